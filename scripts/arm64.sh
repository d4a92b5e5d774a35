#!/usr/bin/env bash
# Runs the short tests of packages as linux/arm64 under qemu-user, where the compiler fuses
# x*y + z and the kernels are NEON's, and says how long each package took.
#
# usage: scripts/arm64.sh [all | PACKAGE...]
#
# Without arguments it runs the packages with kernels for arm64, without tests and subtests of Go
# code that is the same on all processors; with all, every package but those without arithmetic.
#
# It needs qemu-user and the C library of arm64 (which the driver's loader links; in Debian,
# libc6-arm64-cross). Exit status 3 says that they are missing, so that nothing was run.
set -euo pipefail
cd "$(dirname "$0")/.."

libc=/usr/aarch64-linux-gnu
if ! [ -e "$libc/lib/ld-linux-aarch64.so.1" ] || ! qemu=$(command -v qemu-aarch64 || command -v qemu-aarch64-static); then
	echo "arm64: no qemu-aarch64, or no C library of arm64 in $libc: LEFT OUT"
	exit 3
fi

# The flags of scripts/fused.sh, so that the compiler's work is done once; the listings are dropped.
export GOOS=linux GOARCH=arm64 CGO_ENABLED=0 GOGC=${GOGC:-400} GOFLAGS="${GOFLAGS:-} -trimpath"
export HALFULP_TEST=${HALFULP_TEST:+$HALFULP_TEST,}slow
binaries=$(mktemp -d)
trap 'rm -rf "$binaries"' EXIT

# one PACKAGE FOLDER: runs the tests of a package and says how long they took.
one() {
	local name start=$SECONDS
	name=$(tr / _ <<<"$1")
	# Vectors are slow in the emulator. Tests that do not ask for a level by themselves run at that
	# of the machine in packages with kernels, in the engine on top and in the suite of all
	# routines.
	case $1 in
	*/internal/dgemm | */internal/direct | */internal/superacc | */internal/residue | */internal/modgemm | */conformance)
		export HALFULP_LEVEL=neon HALFULP_WANT_KERNELS=neon,generic
		;;
	*) export HALFULP_LEVEL=portable ;;
	esac
	if { go test -c -vet=off -gcflags=./...=-S -o "$binaries/$name" "$1" 2>/dev/null || go vet "$1"; } && cd "$2" &&
		"$qemu" -L "$libc" "$binaries/$name" -test.short -test.timeout 0 -test.skip "$skip" >"$binaries/$name.log" 2>&1 </dev/null; then
		printf '%s\t%d s\n' "$1" $((SECONDS - start))
	else
		printf 'FAIL %s\t%d s\n%s\n' "$1" $((SECONDS - start)) "$(cat "$binaries/$name.log")"
		return 1
	fi
	rm -f "$binaries/$name" "$binaries/$name.log"
}
export -f one

packages=("$@") skip=
case ${1:-} in
"")
	packages=(./internal/{superacc,direct,dgemm,modgemm,sgemm} ./expansion)
	skip='^Test(Condition|Extremes|Function|Mac|Numbers|ProductBounds|PublishedCancellation|Solve)|/^(portable|generic)$'
	;;
all)
	# The tests of internal/gpu run the whole library on fake GPUs; internal/gocuda, matfile and
	# internal/kernels are about text and files, internal/architecture about sources. mpi and
	# distributed need an MPI for arm64. Files, pages of memory, grids of processes, the GPU driver
	# and programs have neither kernels nor arithmetic of doubles of their own.
	mapfile -t packages < <(go list ./... | grep -vE '/internal/(architecture|gocuda|gpu(/mem|/rows|/seed|/several)?|kernels|cli|cublas|cuda|cudadrv(/.*)?|files|grid|hugepage|place|calibration|bufpool|testseed)$|/cmd/|/scripts/|/(mpi|distributed)$|/matfile(/gridfiles|/internal/(casformat|delimited|matrixmarket))?$')
	;;
esac
export binaries qemu libc skip
# As many at a time as there are processors.
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "${packages[@]}" | grep . |
	xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one
