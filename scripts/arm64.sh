#!/usr/bin/env bash
# Runs the short tests of packages as linux/arm64 under qemu-user, where the compiler fuses
# x*y + z and the kernels are NEON's, and says how long each package took.
#
# usage: scripts/arm64.sh [PACKAGE...]     (without arguments a choice of all, see below)
#
# As root, qemu-user and the C library of arm64 (which the driver's loader links) are
# installed where apt-get is there. Exit status 3 says that they are not to be had, so
# that nothing was run.
set -euo pipefail
cd "$(dirname "$0")/.."

libc=/usr/aarch64-linux-gnu
find_qemu() { [ -e "$libc/lib/ld-linux-aarch64.so.1" ] && { command -v qemu-aarch64 || command -v qemu-aarch64-static; }; }
if ! qemu=$(find_qemu) && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
	if ! { apt-get update && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install --yes --no-install-recommends qemu-user libc6-arm64-cross; } >/dev/null; then
		echo "qemu-user and libc6-arm64-cross cannot be installed"
	fi
	qemu=$(find_qemu) || true
fi
if [ -z "$qemu" ]; then
	echo "arm64: no qemu-aarch64, or no C library of arm64 in $libc: LEFT OUT"
	exit 3
fi

export GOOS=linux GOARCH=arm64 CGO_ENABLED=0 HALFULP_TEST=slow GOGC=${GOGC:-400}
binaries=$(mktemp -d)
trap 'rm -rf "$binaries"' EXIT

# Without a handler of such binaries in the kernel no test can start one.
starting='^(TestReadme|TestExamples|TestHelp|TestScripts|TestInterrupt|TestHangUpIgnored|TestEnvironment|TestGenerated|TestProcesses|TestGridFiles|TestFailingProcesses|TestNoMPI)$'
go test -c -o "$binaries/test" ./internal/textio
if "$binaries/test" -test.run '^$' >/dev/null 2>&1; then
	starting='^$'
else
	echo "arm64: LEFT OUT: tests that start programs: $starting"
fi

# The emulator tells programs no address of a page that is gone.
faults='^TestBecameShorter$'

# What differs here is the compiler, and the kernels: arithmetic of doubles, and what a kernel or
# a portable loop computes. Without arguments, tests are left out whose time goes into fake GPUs,
# which are Go of the tests, and into an oracle's rational numbers while neighbours run the same
# code, those of faults that are injected, which are about what is compared, and of arithmetic that
# is interpreted.
fakes='^Test(.+Reference|.*Device.*|.*Failures|.*Resident.*|.*Spoiled|Algorithm1Fails|CheckResigned|ExactPass|Long|Parts.*|PlaceErrors|Prepared.*|Reproduce|SecondAttempt|Traced|Views|WholeRange|DriverCalls|Faults|Factors|FactorsByProducts|Mixed|Progress)$|^Test(Bounded|Tolerant)$/^reference$'
oracles='^Test(BasesBounded|Cholesky|Enclose|Expm|ExponentialBound|LeastSquares|LU|Plans|QR|RootByBlocks|NoRootByBlocks|ByElimination|IllLDLT|SmallPrecision|SlicesOfLargeOrder)$'
[ $# -eq 0 ] || fakes='^$' oracles='^$'

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
	if go test -c -o "$binaries/$name" "$1" && cd "$2" &&
		"$qemu" -L "$libc" "$binaries/$name" -test.short -test.timeout 30m -test.skip "$starting|$faults|$fakes|$oracles" >"$binaries/$name.log" 2>&1 </dev/null; then
		printf '%s\t%d s\n' "$1" $((SECONDS - start))
	else
		printf 'FAIL %s\t%d s\n%s\n' "$1" $((SECONDS - start)) "$(cat "$binaries/$name.log")"
		return 1
	fi
	rm -f "$binaries/$name" "$binaries/$name.log"
}
export -f one
export binaries qemu libc starting faults fakes oracles

# The tests of internal/gpu run the whole library on fake GPUs, of which internal/gpu/mem, rows and
# seed have no arithmetic on the host; internal/gocuda, matfile and internal/kernels are about text
# and files, internal/architecture about sources. mpi and distributed need an MPI for arm64. Files,
# pages of memory, grids of processes, the GPU driver and the programs' command lines have neither
# kernels nor arithmetic of doubles of their own. They are left out without arguments.
#
# As many at a time as there are processors, those first that take longest.
longest=(linsolve conformance expansion ozaki rns internal/proof/seed linsolve/internal/digits internal/proof/newton)
list() { go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' "$@" | grep .; }
packages=("$@")
if [ $# -eq 0 ]; then
	mapfile -t packages < <(go list ./... | grep -vE '/internal/(architecture|gocuda|gpu(/mem|/rows|/seed|/several)?|kernels|cli|cublas|cuda|cudadrv(/.*)?|files|grid|hugepage|place|calibration|bufpool|testseed)$|/cmd/|/scripts/|/(mpi|distributed)$|/matfile(/gridfiles|/internal/(casformat|delimited|matrixmarket))?$')
fi
list "${packages[@]}" | awk -v longest="${longest[*]}" '
	BEGIN { n = split(longest, name); for (i = 1; i <= n; i++) first["github.com/halfulp/halfulp/" name[i]] = i }
	{ print ($1 in first ? first[$1] : n + 1), $0 }' | sort -s -n -k1,1 | cut -d' ' -f2- |
	xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one
