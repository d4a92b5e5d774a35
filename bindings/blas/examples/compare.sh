#!/usr/bin/env bash
# Runs bits.R and bits.m with OpenBLAS and with halfulp, for several kernels and numbers of threads,
# and prints for each result the different values, with the settings that gave them.
#
# usage: compare.sh FOLDER     (the lib folder of "make lib")
#
# It needs R or Octave, OpenBLAS and the reference LAPACK of Debian 12 on x86-64: r-base-core,
# octave, libopenblas0-pthread, liblapack3.
set -euo pipefail
lib=$(cd "$1" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
system=/usr/lib/$(uname -m)-linux-gnu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Folders with the names by which programs look for the BLAS and for LAPACK. OpenBLAS's own LAPACK
# has a BLAS inside, so both get the reference LAPACK.
for name in openblas halfulp; do
	mkdir "$work/$name"
	ln -s "$system/lapack/liblapack.so.3" "$work/$name/liblapack.so.3"
done
ln -s "$system/openblas-pthread/libblas.so.3" "$work/openblas/libblas.so.3"
ln -s "$lib/libhalfulpblas.so" "$work/halfulp/libblas.so.3"

compare() { # NAME COMMAND...: tables for a script
	name=$1
	shift
	for blas in openblas halfulp; do
		all="portable avx2"
		[ $blas = halfulp ] || all="Nehalem Haswell Zen"
		for kernels in $all; do
			for threads in 1 2; do
				OPENBLAS_CORETYPE=$kernels OPENBLAS_NUM_THREADS=$threads HALFULP_LEVEL=$kernels GOMAXPROCS=$threads \
					LD_LIBRARY_PATH=$work/$blas R_LD_LIBRARY_PATH=$work/$blas "$@" |
					sed "s/\$/ $kernels $threads/" >>"$work/$name-$blas"
			done
		done
		printf '\n%s, %s\n' "$name" "$blas"
		awk '{ what = substr($0, 1, 28); value = $(NF - 2); key = what value
			if (!(what in seen)) { seen[what] = 1; order[++results] = what }
			if (!(key in settings)) values[what] = values[what] " " value
			settings[key] = settings[key] ", " tolower($(NF - 1)) " " $NF }
			END { for (i = 1; i <= results; i++) { what = order[i]; count = split(values[what], v, " ")
				for (j = 1; j <= count; j++) {
					s = settings[what v[j]]
					n = gsub(/, /, ", ", s)
					printf "  %s %-24s %s\n", j == 1 ? what : sprintf("%28s", ""), v[j], count == 1 ? "all " n : substr(s, 3) } } }' "$work/$name-$blas"
	done
}

if command -v Rscript >/dev/null; then
	compare R Rscript --vanilla "$here/bits.R"
fi
if command -v octave-cli >/dev/null; then
	compare Octave octave-cli --quiet --norc "$here/bits.m"
fi
