#!/bin/sh
# Installs the C and C++ libraries that the benchmarks compare halfulp with, on Debian 12 or a
# descendant of it. Debian 13 and later ship Arb inside FLINT 3: there libflint-arb-dev does not
# exist and this module needs Debian 12.
set -eu

if [ "$(id -u)" -eq 0 ]; then
	as_root=""
else
	as_root="sudo"
fi

$as_root apt-get update
$as_root apt-get install --yes --no-install-recommends \
	g++ \
	libgmp-dev \
	libmpfr-dev \
	libflint-dev \
	libflint-arb-dev \
	libqd-dev \
	libopenblas-pthread-dev

# FLINT 3 by way of Python, for cmd/linsolve; its --python names the interpreter.
python3 -m venv "${VENV:-.venv}" && "${VENV:-.venv}/bin/pip" install python-flint==0.9.0
