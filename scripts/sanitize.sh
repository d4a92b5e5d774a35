#!/usr/bin/env bash
# Runs C programs that call libhalfulp under AddressSanitizer with UndefinedBehaviorSanitizer, under
# ThreadSanitizer, and under valgrind: the C tests and the example with MPFR.
#
# usage: scripts/sanitize.sh [-t] [FOLDER]     (default: dist)
#
# FOLDER has the libraries, as scripts/lib.sh leaves them. The programs are instrumented, but the
# library is not, because these tools do not know the stacks and the scheduler of Go. The
# sanitizers check the programs' own accesses, and what the library asks of the C library:
# allocation, copies, texts. Reports of valgrind whose innermost function is in libhalfulp.so are
# left out for the same reason.
#
# -t runs ThreadSanitizer alone, for a library whose C code is instrumented as well, in a way that
# Go's compiler knows:
#   CGO_CFLAGS=-fsanitize=thread CGO_LDFLAGS=-fsanitize=thread scripts/lib.sh FOLDER
set -euo pipefail
cd "$(dirname "$0")/.."
threads_alone=
if [ "${1:-}" = -t ]; then
	threads_alone=1
	shift
fi
out=$(cd "${1:-dist}" && pwd)
for file in lib/libhalfulp.so include/halfulp.h; do
	if ! [ -e "$out/$file" ]; then
		echo "sanitize.sh: there is no $out/$file: scripts/lib.sh builds it" >&2
		exit 2
	fi
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
programs=(bindings/c/test/testdata/{data,routines,calls,direct}.c)
if echo '#include <mpfr.h>' | ${CC:-gcc} -E - >/dev/null 2>&1; then
	programs+=(bindings/c/examples/hilbert.c)
else
	echo "bindings/c/examples/hilbert.c: LEFT OUT, it needs MPFR"
fi
compile() { # PROGRAM FLAG...
	local mpfr=()
	[[ $1 != *hilbert.c ]] || mpfr=(-lmpfr -lgmp)
	${CC:-gcc} -std=c11 -D_GNU_SOURCE -g -O1 "${@:2}" -I"$out/include" "$1" -o "$work/program" \
		-L"$out/lib" -Wl,--as-needed -lhalfulp "${mpfr[@]}" -lm -lpthread -ldl -Wl,-rpath,"$out/lib"
}
failed=0
try() { # NAME COMMAND...
	if "${@:2}" >"$work/log" 2>&1; then
		echo "$1: passed"
	else
		echo "$1: FAILED, status $?"
		cat "$work/log"
		failed=1
	fi
}
for program in "${programs[@]}"; do
	if [ ! "$threads_alone" ]; then
		compile "$program" -fsanitize=address,undefined -fno-sanitize-recover=undefined
		try "$program, address and undefined behaviour" "$work/program" "$work"
	fi
	compile "$program" -fsanitize=thread
	try "$program, threads" "$work/program" "$work"
done
[ ! "$threads_alone" ] || exit "$failed"

# Signals, forks and waits of calls.c are for a processor, not for valgrind.
if ! command -v valgrind >/dev/null; then
	echo "valgrind: LEFT OUT, it is not installed"
	exit "$failed"
fi
kinds=(Cond Value1 Value2 Value4 Value8 Value16 Value32 Addr1 Addr2 Addr4 Addr8 Addr16 Addr32 Jump Overlap Param Leak)
for kind in "${kinds[@]}"; do
	printf '{\n%s\nMemcheck:%s\n' "$kind" "$kind"
	[ "$kind" != Param ] || echo '*' # any call of the system
	[ "$kind" = Leak ] && printf '...\n'
	printf 'obj:*/libhalfulp.so\n'
	[ "$kind" = Leak ] && printf '...\n'
	printf '}\n'
done >"$work/suppressions"
for program in "${programs[@]}"; do
	[[ $program != *calls.c ]] || continue
	compile "$program"
	try "$program, valgrind" valgrind -q --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
		--suppressions="$work/suppressions" "$work/program" "$work"
done
exit "$failed"
