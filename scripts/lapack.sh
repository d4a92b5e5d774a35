#!/usr/bin/env bash
# Runs the test programs of LAPACK (Debian's liblapack-test) with the reference BLAS and with
# libhalfulpblas, for float and double: linear equations, and the symmetric eigenproblem.
#
# usage: scripts/lapack.sh [-a] [FOLDER]     (default: dist)
#
# FOLDER/lib has the libraries, as scripts/lib.sh leaves them. -a runs the other programs for float
# and double as well: nonsymmetric and generalized eigenproblems, singular values, least squares.
#
# For each program and BLAS it prints the number of tests, the number of tests that fail, and the
# seconds; then the lines about failures that only one of the two has. The exit status is 1 if there
# are any such lines.
set -euo pipefail
all=
if [ "${1:-}" = -a ]; then
	all=1
	shift
fi
lib=$(cd "${1:-$(dirname "$0")/../dist}/lib" && pwd)
system=/usr/lib/$(gcc -print-multiarch)
for file in "$lib/libhalfulpblas.so" "$system"/{blas/libblas.so.3,lapack/liblapack.so.3,lapack/xlintstd}; do
	if ! [ -e "$file" ]; then
		echo "lapack.sh: there is no $file: scripts/lib.sh and Debian's libblas3, liblapack3 and liblapack-test are needed" >&2
		exit 2
	fi
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for blas in reference halfulp; do
	mkdir "$work/$blas"
	ln -s "$system/lapack/liblapack.so.3" "$work/$blas/"
done
ln -s "$system/blas/libblas.so.3" "$work/reference/"
ln -s "$lib/libhalfulpblas.so" "$work/halfulp/libblas.so.3"

# An output without the time and the number of tests says what failed.
failures() { grep -iE 'fail|error code|\*\*\*|info *=|illegal|wrong' "$1" | grep -vE 'passed the (tests of the error exits|threshold)|Routines pass|relative machine' || true; }
# of the lines "All tests for DGE routines passed the threshold ( 3653 tests run)" and
# "DGE routines: 2 out of 3653 tests failed to pass the threshold"
counts() {
	awk 'match($0, /[0-9]+ tests run/) { split(substr($0, RSTART), w, " "); run += w[1] }
		match($0, /[0-9]+ out of +[0-9]+ tests failed/) { split(substr($0, RSTART), w, " "); failed += w[1]; run += w[4] }
		END { printf "%d tests, %d failed", run, failed }' "$1"
}

differ=0
printf '%-9s %-14s %-10s %s\n' program input BLAS result
try() { # PROGRAM INPUT
	local blas seconds
	for blas in reference halfulp; do
		seconds=$(date +%s)
		status=0
		(cd "$work" && LD_LIBRARY_PATH=$work/$blas "$system/lapack/$1" <"$system/lapack/$2" >"$blas.out" 2>&1) || status=$?
		printf '%-9s %-14s %-10s %s, status %d [%d s]\n' "$1" "$2" "$blas" "$(counts "$work/$blas.out")" "$status" $(($(date +%s) - seconds))
		echo "$status" >"$work/$blas.failures"
		failures "$work/$blas.out" >>"$work/$blas.failures"
	done
	diff "$work/reference.failures" "$work/halfulp.failures" || differ=1
}
for letter in d s; do
	try "xlintst$letter" "${letter}test.in"
	try "xlintstrf$letter" "${letter}test_rfp.in"
	try "xeigtst$letter" sep.in
	try "xeigtst$letter" se2.in
	try "xeigtst$letter" "${letter}sb.in"
	try "xeigtst$letter" "${letter}sg.in"
	[ "$all" ] || continue
	for input in nep svd "${letter}"{ec,ed,gg,gd,bb,bak,bal,gbak,gbal} glm gqr gsv csd lse; do
		[ ! -e "$system/lapack/$input.in" ] || try "xeigtst$letter" "$input.in"
	done
done
[ ! "$all" ] || try xlintstds dstest.in
exit "$differ"
