#!/usr/bin/env bash
# Runs the public suite array-api-tests on the Python package, and prints how many of its tests
# passed, failed and were left out, and why. It takes some minutes.
#
# usage: scripts/arrayapi.sh [FOLDER]
#
# FOLDER holds clones array-api-tests and array-api, which are not changed; without it both come
# from GitHub. It needs Python, pip and git; and Go and a C compiler, unless HALFULP_WHEEL names a
# wheel. HALFULP_EXAMPLES is the number of random examples a test (default: 10), HALFULP_JOBS that
# of processes (default: 2).
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
own=$root/bindings/python/tests/array_api_suite
tests=55fcc60179efa2680ddd6cd926ddf17b83530e2b
standard=5f847a3858875c682ae901aa22b0413bf24be9da # the submodule of these tests
wheel=${HALFULP_WHEEL:+$(realpath "$HALFULP_WHEEL")}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
	from=$(cd "$1" && pwd)
else
	from=$work/from
	for name in array-api-tests array-api; do
		git clone --quiet "https://github.com/data-apis/$name" "$from/$name"
	done
fi
clone() { # from, to, commit
	git clone --quiet --no-checkout "$1" "$2"
	git -C "$2" -c advice.detachedHead=false checkout --quiet "$3"
}
clone "$from/array-api-tests" "$work/suite" "$tests"
rm -rf "$work/suite/array-api"
clone "$from/array-api" "$work/suite/array-api" "$standard"
# The suite cannot be loaded for a namespace without complex numbers, and takes the type of
# asarray(0) for that of integers.
git -C "$work/suite" apply "$own/suite.patch"

python3 -m venv "$work/venv"
python=$work/venv/bin/python
"$python" -m pip install --quiet --disable-pip-version-check "${wheel:-$root/bindings/python}" \
	pytest==9.2.0 pytest-json-report==1.5.0 pytest-xdist==3.8.0 hypothesis==6.170.17 ndindex==1.10.1

export ARRAY_API_TESTS_MODULE=halfulp ARRAY_API_TESTS_VERSION=2024.12 ARRAY_API_TESTS_SKIP_DTYPES=complex64,complex128
export ARRAY_API_TESTS_MAX_ARRAY_SIZE=128 PYTHONPATH=$own PYTHONDONTWRITEBYTECODE=1
cd "$work/suite"
for types in all floating; do
	HALFULP_SUITE=$types HALFULP_SUITE_RESULTS=$work/$types.json "$python" -m pytest -q --tb=short -p halfulp_suite -p no:cacheprovider -W ignore \
		-n "${HALFULP_JOBS:-2}" --max-examples "${HALFULP_EXAMPLES:-10}" array_api_tests >"$work/$types.log" 2>&1 || {
		# 1: tests failed
		if [ $? -ne 1 ] || [ ! -f "$work/$types.json" ]; then
			cat "$work/$types.log"
			exit 1
		fi
		grep -E '^(E  |FAILED|ERROR)' "$work/$types.log" || true
	}
done
"$python" "$own/halfulp_suite.py" "$work/all.json" "$work/floating.json"
