#!/usr/bin/env bash
# Checks what generators write (assembly, PTX) and the module bench, which measures other libraries.
# scripts/generated.sha256 has a line for each of these checks: a hash of all inputs with which it
# last passed, the generated files among them. A line that does not match today's inputs stands for
# a check that must run again. A file that is not what its generator writes cannot pass the check,
# and a change of it, of its generator or of a merge changes the hash.
#
# usage: scripts/generated.sh [stale | all]
#
# Without arguments it runs the checks whose lines do not match, and writes the lines. With stale it
# runs none of them, and fails if there are any: continuous integration does this. With all it runs
# every check, whatever the file says: "make soak" does this.
#
# A check whose tools are missing (a network, Python, Debian packages) is left out, and the script
# says so.
set -euo pipefail
cd "$(dirname "$0")/.."

mode=${1:-}
stamps=scripts/generated.sha256
kernels=internal/kernels
export PYTHONDONTWRITEBYTECODE=1
(cd "$kernels" && go run ../gocuda/gen ../.. expansion) # headers that are not committed
kernel_hashes=$("$kernels"/_ptx/pack.py unpack && "$kernels"/_ptx/hashes.py) || {
	echo "PTX: no Python: LEFT OUT"
	[ "$mode" != stale ] || exit 1
	kernel_hashes=
}

names() {
	dirname internal/*/_asm rns/_asm expansion/_asm ozaki/_asm
	awk 'NF { print "ptx/" $2 }' <<<"$kernel_hashes"
	printf '%s\n' entries bench
}

# inputs NAME: prints what the check of NAME depends on: files as sha256sum prints them, and text.
inputs() {
	local package
	case $1 in
	ptx/*) grep -F "  ${1#ptx/}" <<<"$kernel_hashes" ;;
	entries) sha256sum "$kernels"/*.go "$kernels"/ptx.pack ;;
	bench)
		find bench -type f \( -name '*.go' -o -name '*.c' -o -name '*.cpp' -o -name '*.h' -o -name 'go.*' -o -name setup.sh \) -print0 |
			sort -z | xargs -0 sha256sum
		sha256sum .golangci.yml
		# Of halfulp, what its packages export, without comments.
		for package in $(grep -rhoE --include='*.go' '"github.com/halfulp/halfulp(/[a-z/]+)?"' bench | tr -d '"' | grep -v /bench | sort -u); do
			go doc -all "$package" | sed -E '1,/^(CONSTANTS|VARIABLES|FUNCTIONS|TYPES)$/d; /^    /d; s|[[:space:]]*//.*||; /^$/d' | tr -s ' \t'
		done
		;;
	*) # a package with generated assembly; generators that parse Go read all of the package
		find internal/_neon internal/_compact internal/amx "$1"/_asm "$1"/*_a*64.s "$1"/stubs_*.go scripts/check-asm.sh -type f -print0 | sort -z | xargs -0 sha256sum
		grep -h '^//go:generate go -C _asm' "$1"/*.go
		if grep -q '"go/parser"' "$1"/_asm/*.go; then
			find "$1" -maxdepth 1 -name '*.go' ! -name '*_test.go' -print0 | sort -z | xargs -0 sha256sum
		fi
		;;
	esac
}

# stamp NAME: the line for NAME with its inputs of today.
stamp() (
	export LC_ALL=C
	printf '%s  %s\n' "$(inputs "$1" | sha256sum | cut -d' ' -f1)" "$1"
)

# passed NAME: writes the line for NAME.
passed() {
	{
		grep -v "  $1\$" "$stamps" || true
		stamp "$1"
	} | LC_ALL=C sort -k2 >"$stamps.new"
	mv "$stamps.new" "$stamps"
}

todo=()
for name in $(names); do
	[ "$mode" != all ] && grep -qxF "$(stamp "$name")" "$stamps" || todo+=("$name")
done
[ ${#todo[@]} != 0 ] || { echo "generated code: unchanged since it was checked"; exit 0; }
if [ "$mode" = stale ]; then
	printf '%s has no line of today for %s: commit what "make generated" writes there\n' "$stamps" "${todo[*]}"
	exit 1
fi

status=0 sources=()
for name in "${todo[@]}"; do
	case $name in
	ptx/*)
		sources+=("${name#ptx/}")
		continue
		;;
	esac
	printf '\n=== generated: %s [%d s]\n' "$name" "$SECONDS"
	case $name in
	entries) # what drivers get: each kernel for itself
		ptxas=$(PYTHONPATH=$kernels/_ptx python3 -c 'import ptx; print(ptx.tool(ptx.PTXAS, ptx.PTXAS_PROGRAM))') || {
			echo "PTX, each kernel for itself: no Python wheel of the assembler: LEFT OUT"
			continue
		}
		HALFULP_PTXAS=$ptxas go test -count=1 -run '^TestEntryAssembles$' "./$kernels"
		;;
	bench)
		[ "${CI:-}" != true ] || DEBIAN_FRONTEND=noninteractive timeout 300 bench/setup.sh
		if ! printf '#include <%s>\n' gmp.h mpfr.h arb.h qd/qd_real.h openblas-pthread/cblas.h | g++ -E -x c++ - >/dev/null 2>&1; then
			echo "bench: its C libraries are not here; bench/setup.sh installs them on Debian 12: LEFT OUT"
			continue
		fi
		scripts/tools.sh
		(cd bench && go vet ./... && go test -short ./... && ../.bin/tools/golangci-lint run --allow-parallel-runners ./...)
		;;
	*) scripts/check-asm.sh "$name" ;;
	esac
	passed "$name"
done
if [ ${#sources[@]} != 0 ]; then
	printf '\n=== PTX: generated anew, assembled for all GPUs: %s [%d s]\n' "${sources[*]}" "$SECONDS"
	# The first alone, which gets the compiler. It works on one processor, so then several at once.
	"$kernels"/_ptx/ptx.py check "${sources[0]}" || status=$?
	[ $status != 0 ] || printf '%s\n' "${sources[@]:1}" | xargs -r -P "$(nproc)" -n 3 "$kernels"/_ptx/ptx.py check || status=$?
	[ $status != 3 ] || { echo "PTX: the compiler's Python wheels cannot be had here: LEFT OUT"; exit 0; }
	[ $status = 0 ] || exit $status
	for name in "${sources[@]}"; do passed "ptx/$name"; done
fi
