#!/usr/bin/env bash
# Everything that a change must pass, in four steps that say how long they took;
# "make check" and .ci/run call all of them. It stops at the first failure.
#
# usage: scripts/check.sh [quick | levels | generated | bindings | all]...
#
#   quick      build, short tests, formatting, linters
#   levels     the whole tests at their longest, every instruction set, other targets, races
#   generated  what generators write (assembly, PTX) and the peers' module in bench, where the
#              inputs are not those of scripts/generated.sha256; writes that file
#   bindings   the C library is built, and programs that call it run
#
# What needs more than Go (a network, a C compiler, Debian packages) is left out, and said so,
# where that is not to be had. In continuous integration, with CI=true, packages are installed, as
# root, and what is left out fails.
set -euo pipefail
cd "$(dirname "$0")/.."

golangci_lint=github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
deadcode=golang.org/x/tools/cmd/deadcode@v0.52.0
kernels=$(dirname "$(dirname "$(find internal -name ptx.py)")") # of GPUs
stamps=scripts/generated.sha256
tools=$PWD/.bin/tools

part() { printf '\n=== %s [%d s]\n' "$*" "$SECONDS"; }
on_ci() { [ "${CI:-}" = true ]; }
left_out() {
	printf '%s: LEFT OUT\n' "$*"
	if on_ci; then
		echo "in continuous integration nothing may be left out"
		exit 1
	fi
}
# lacks WHAT: tells what this machine's processor cannot run. No other machine would do, so this
# does not fail.
lacks() { printf '%s: NOT RUN\n' "$*"; }
has_flags() {
	local flag
	for flag in "$@"; do
		grep -qw -- "$flag" /proc/cpuinfo 2>/dev/null || return 1
	done
}

# install PACKAGE...: installs Debian packages, in continuous integration alone.
install() {
	on_ci && [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null &&
		apt-get update && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install --yes --no-install-recommends "$@"
}

# gotest is go test that waits longer for a package, a machine may have other work, that collects
# garbage less often, and leaves what quick has looked at.
gotest() { GOGC=${GOGC:-400} go test -timeout 20m -vet=off "$@"; }

# have_numpy sees that tests have a Python with NumPy, in continuous integration from pip.
have_numpy() {
	local python=${HALFULP_PYTHON:-python3} folder=$PWD/.bin/numpy
	if ! "$python" -c 'import numpy' 2>/dev/null && on_ci; then
		python3 -m pip --version >/dev/null 2>&1 || install python3-pip || true
		python3 -m pip install --quiet --target "$folder" numpy || true
		printf '#!/bin/sh\nPYTHONPATH=%s exec python3 "$@"\n' "$folder" >"$folder.sh"
		chmod +x "$folder.sh"
		export HALFULP_PYTHON=$folder.sh
		python=$HALFULP_PYTHON
	fi
	"$python" -c 'import numpy' 2>/dev/null || left_out "tests with NumPy: no Python has it"
}

# have_mpi sees that tests have an MPI, in continuous integration from pip.
have_mpi() {
	local folder=$PWD/.bin/mpich
	if ! command -v "${HALFULP_MPIEXEC:-mpiexec}" >/dev/null && on_ci; then
		python3 -m pip --version >/dev/null 2>&1 || install python3-pip || true
		PIP_BREAK_SYSTEM_PACKAGES=1 python3 -m pip install --quiet --ignore-installed --prefix "$folder" mpich==5.0.2 || true
		export HALFULP_MPIEXEC=$folder/bin/mpiexec
	fi
	command -v "${HALFULP_MPIEXEC:-mpiexec}" >/dev/null || left_out "tests under MPI: there is no mpiexec"
}

# tool PACKAGE@VERSION: builds a program into .bin/tools.
tool() { GOBIN=$PWD/.bin/tools timeout 600 go install "$1"; }

quick() {
	! on_ci || stamped

	part "gofmt"
	local unformatted
	unformatted=$(gofmt -l .)
	if [ -n "$unformatted" ]; then
		printf 'gofmt would change:\n%s\n' "$unformatted"
		exit 1
	fi

	part "go build, go vet, go mod tidy"
	go version
	local folder
	for folder in . reproduce; do
		(cd "$folder" && go build ./... && go vet ./... && go mod tidy -diff)
	done

	part "the width of comments"
	go run ./scripts/commentwidth

	if [[ " $steps " != *" levels "* ]]; then # else the long tests there are these and more
		part "short tests"
		gotest -short ./...
		(cd reproduce && gotest -short ./...)
	fi

	part "functions that neither a program nor a test reaches"
	if tool "$deadcode"; then
		local dead
		for folder in . reproduce; do
			dead=$(cd "$folder" && "$tools/deadcode" -test ./...)
			if [ -n "$dead" ]; then
				printf '%s\n' "$dead"
				exit 1
			fi
		done
	else
		left_out "deadcode: it cannot be built here"
	fi

	part "golangci-lint"
	if tool "$golangci_lint"; then
		for folder in . reproduce; do
			(cd "$folder" && "$tools/golangci-lint" run ./...)
		done
	else
		left_out "golangci-lint: it cannot be built here"
	fi
}

levels() {
	part "go test ./..., with HALFULP_TEST=long where that is more than further random inputs"
	[[ " $steps " == *" quick "* ]] || go build ./...
	command -v g++ >/dev/null || install g++ || true # some tests compile kernels for the host
	# Seeds are fixed. Where the long form only has more random inputs of the same kinds, "make
	# soak" runs it, with others each time. linsolve runs on one processor, beside the others.
	local log=$PWD/.bin/linsolve.log linsolve
	mkdir -p .bin
	gotest ./linsolve >"$log" 2>&1 &
	linsolve=$!
	# Those first that take longest, so that none is left alone on one processor at the end.
	local long='/(conformance|distributed|rns|internal/gpu(/.*)?)$'
	HALFULP_TEST=long gotest ./conformance ./internal/gpu/... ./rns ./distributed .
	(cd reproduce && HALFULP_TEST=long gotest ./cmd/halfulp-reproduce && gotest $(go list ./... | grep -v '/halfulp-reproduce$'))
	gotest $(go list ./... | tail -n +2 | grep -vE "/linsolve\$|$long")
	wait "$linsolve" || { cat "$log"; exit 1; }
	cat "$log"

	part "GPU kernels, compiled for the host"
	if [ "$(go env GOOS) $(go env GOARCH)" != "linux amd64" ]; then
		lacks "kernels on the host: they are emulated on Linux alone, on amd64"
	elif command -v g++ >/dev/null; then
		# Those of internal/gpu and internal/gpu/product take more than ten minutes each. Of sums of
		# rows the kernels say less often than their references that they are exact. Kernels of what
		# is left out besides are emulated in the long tests, too.
		local emulated='Test(Outer|Convolve|Words?)(Emulated|Reference|Longest|Slices|Spread)'
		HALFULP_EMULATE=all gotest -short -skip "^(TestExactSpread|$emulated)\$" ./internal/gpu/{rows,newton,seed}
	else
		left_out "kernels on the host: there is no g++"
	fi

	part "the lower levels of instruction sets"
	# Packages with kernels, and those that call them; but no programs are built and run. The
	# conformance suite, with the routines of linsolve, runs under all levels by itself, and so do
	# linsolve's small systems; the engine on GPUs has none. Faults that are injected are about what
	# is compared.
	local packages=(. ./internal/{superacc,lanes,tiles,direct,dgemm,residue,modgemm,product,sgemm}) methods=(./rns ./expansion ./ozaki)
	level() { HALFULP_LEVEL=$1 gotest -short -skip '^Test(Readme|Examples|Faults)$' "${packages[@]}" "${@:2}"; }
	# The portable loops of methods run on 32 bits and on arm64 below.
	if [ "$(go env GOHOSTARCH)" = amd64 ]; then level portable; else level portable "${methods[@]}"; fi
	if ! has_flags avx2 fma; then
		lacks "HALFULP_LEVEL=avx2: this processor has no AVX2"
	elif has_flags avx512f avx512bw avx512dq avx512vl; then
		level avx2 "${methods[@]}" # all tests that name no level run under avx512, or amx
		if has_flags avx512_vnni amx_tile amx_int8; then
			level avx512 "${methods[@]}"
		else
			lacks "HALFULP_LEVEL=amx: this processor has no AMX" # emulated tiles run
		fi
	else
		lacks "HALFULP_LEVEL=avx512: this processor has no AVX-512" # all tests run under avx2
	fi
	go vet -tags purego $(grep -rlE --include='*.go' '^//go:build.*purego' -- . | grep -v '/_' | xargs -n1 dirname | sort -u)

	# Tests of method packages on fake GPUs, whose kernels are Go of the tests: on other targets and
	# under the race detector they would take most of the time. But parts are several GPUs at once.
	local fakes='^Test(.+Reference|Device[^P]*|CGDeviceFails|Algorithm1Fails|Reproduce)$'

	part "other targets: 32 bits, compilers that fuse x*y + z, arm64"
	if [ "$(go env GOHOSTARCH)" = amd64 ]; then
		GOARCH=386 gotest -run '^TestBigLeastExponents$' .
		GOARCH=386 gotest -short -skip "$fakes" ./internal/num/... ./internal/decimal/... ./internal/superacc/... ./internal/lanes/... ./internal/tiles/... ./internal/direct/... ./internal/sgemm/... ./rns/... ./expansion/... ./ozaki/...
	else
		GOARCH=386 go vet ./...
		lacks "tests on 32 bits: this processor is no x86"
	fi
	scripts/fused.sh
	GOARCH=arm64 go vet ./...
	local status=0
	scripts/arm64.sh || status=$?
	case $status in
	0) ;;
	3) left_out "tests on arm64" ;;
	*) exit "$status" ;;
	esac
	# fused.sh compiles everything with GOAMD64=v3, and what that fuses is fused on arm64 as well.
	if [ $status != 0 ] && has_flags avx2 bmi2 fma; then
		GOAMD64=v3 gotest -short -skip "$fakes" ./internal/superacc ./internal/lanes ./internal/tiles ./internal/direct ./internal/sgemm/... ./expansion/... ./ozaki/...
	fi

	part "race detector"
	if ! command -v "$(go env CC)" >/dev/null; then
		install gcc libc6-dev || true
	fi
	if command -v "$(go env CC)" >/dev/null; then
		local concurrent
		concurrent=$(starts_goroutines)
		export CGO_ENABLED=1
		# On fake GPUs kernels take their time, and those of tests without goroutines no part in
		# races, nor has arithmetic of single numbers; scripts and programs run what other tests do.
		# Of products of bytes, on emulated tiles, the other tests run all loops. modgemm starts
		# goroutines in one test. Where address space is limited the detector ends the program.
		local few='^\./(internal/(gpu|modgemm|proof)|linsolve)'
		local alone='Scripts|Readme|MemoryRefused|Examples|Help|(Failing)?Processes|GridFiles|NoMPI|(Bench|Commands)OnDevice|Oracle|ZerosLeftOut|BasesBounded|Extremes|Numbers|Stored|BlockKernels|Mac|FunctionSpecials|FunctionEdges|ProductBounds'
		alone+='|PublishedErrors|SmallPrecision|Functions|LongSums|VerticalGemv|NumberConversions|XFloat|FMA|Arithmetic|QuotientAndRoot|Chain|Conversions|Evaluate|ScaleDown'
		local tiles='^Test(Bounded|BoundedBase|Near|Across|Faults)$/^bytes$'
		gotest -race -short -skip "$fakes|^Test($alone)\$|$tiles" $(grep -vE "$few" <<<"$concurrent")
		# Of linsolve and its rooms what compares numbers of threads, and of reproduce what
		# measures: in the others nearly all time goes into oracles and plots.
		local chosen='Parts|Progress|Cancel|Several|Same|TestMeter|TestByteStress|^Test(Inverse|Solve|Det|Ozaki|Gemv)$'
		gotest -race -short -run "$chosen" $(grep -E "$few" <<<"$concurrent")
		(cd reproduce && gotest -race -short -run "$chosen" .)
	else
		left_out "go test -race: no C compiler"
	fi
}

# starts_goroutines prints the packages whose Go files start goroutines, and linsolve, which has the
# tests of those below it.
starts_goroutines() {
	{
		echo ./linsolve/doc.go
		grep -rlE --include='*.go' '^\s*go [a-z]|\.Go\(|"github.com/halfulp/halfulp/internal/par"' -- .
	} |
		grep -vE '^\./(bench|bindings|reproduce)/|/_' | xargs -n1 dirname | sort -u
}

generated() {
	local package stale=()
	for package in $(generated_packages); do
		unchanged "$package" || {
			part "generated assembly of $package"
			scripts/check-asm.sh "$package"
			passed "$package"
		}
	done
	check_ptx
	unchanged entries || check_entries
	unchanged bench || check_bench
	if [ ${#stale[@]} -gt 0 ] && on_ci; then
		printf '\nThese checks passed, but %s does not say so. Commit what "make generated" writes there:\n' "$stamps"
		printf '%s\n' "${stale[@]}"
		exit 1
	fi
}

generated_packages() { dirname internal/*/_asm rns/_asm expansion/_asm ozaki/_asm; }

check_ptx() {
	have_python() { command -v python3 >/dev/null; }
	have_python || install python3-pip || true
	if ! have_python; then
		left_out "PTX: no Python"
		return
	fi
	local source changed=()
	kernel_hashes=$(PYTHONDONTWRITEBYTECODE=1 "$kernels"/_ptx/hashes.py)
	for source in $(awk '{ print $2 }' <<<"$kernel_hashes"); do
		unchanged "ptx/$source" || changed+=("$source")
	done
	[ ${#changed[@]} -gt 0 ] || return 0

	part "PTX: generated anew, assembled for all GPUs: ${changed[*]}"
	have_pip() { python3 -m pip --version >/dev/null 2>&1; }
	have_pip || install python3-pip || true
	if ! have_pip; then
		left_out "PTX: no pip"
		return
	fi
	local status=0
	# The first alone, which gets the compiler. It works on one processor, so then several at once.
	"$kernels"/_ptx/ptx.py check "${changed[0]}" || status=$?
	[ $status != 0 ] || printf '%s\n' "${changed[@]:1}" | xargs -r -P "$(nproc)" -n 3 "$kernels"/_ptx/ptx.py check || status=$?
	case $status in
	0) for source in "${changed[@]}"; do passed "ptx/$source"; done ;;
	3) left_out "PTX: the compiler's Python wheels cannot be had here" ;;
	*) exit "$status" ;;
	esac
}

# check_entries assembles what drivers get: each kernel for itself.
check_entries() {
	part "PTX: each kernel for itself"
	local ptxas
	ptxas=$(PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$kernels/_ptx python3 -c 'import ptx; print(ptx.tool(ptx.PTXAS, ptx.PTXAS_PROGRAM))') || {
		left_out "PTX, each kernel for itself: the assembler's Python wheel cannot be had here"
		return
	}
	HALFULP_PTXAS=$ptxas gotest -count=1 -run '^TestEntryAssembles$' "./$kernels"
	passed entries
}

check_bench() {
	part "bench: the peers' libraries"
	have_peers() {
		command -v g++ >/dev/null && g++ -E -x c++ - >/dev/null 2>&1 <<'HEADERS'
#include <gmp.h>
#include <mpfr.h>
#include <arb.h>
#include <qd/qd_real.h>
#include <openblas-pthread/cblas.h>
HEADERS
	}
	if ! have_peers && on_ci; then
		DEBIAN_FRONTEND=noninteractive timeout 300 bench/setup.sh || echo "bench/setup.sh failed"
	fi
	if ! have_peers; then
		left_out "bench: its C libraries are not here; bench/setup.sh installs them on Debian 12"
		return
	fi
	tool "$golangci_lint"
	(cd bench && go vet ./... && gotest -short ./... && ../.bin/tools/golangci-lint run ./...)
	passed bench
}

# inputs NAME: prints what the check of NAME depends on: files as sha256sum prints them, and text.
inputs() {
	local package
	case $1 in
	ptx/*) grep -F "  ${1#ptx/}" <<<"$kernel_hashes" ;;
	entries) sha256sum "$kernels"/*.go "$kernels"/ptx.zip ;;
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
		find internal/_neon internal/amx "$1"/_asm "$1"/*_a*64.s "$1"/stubs_*.go scripts/check-asm.sh -type f -print0 | sort -z | xargs -0 sha256sum
		grep -h '^//go:generate go -C _asm' "$1"/*.go
		if grep -q '"go/parser"' "$1"/_asm/*.go; then
			find "$1" -maxdepth 1 -name '*.go' ! -name '*_test.go' -print0 | sort -z | xargs -0 sha256sum
		fi
		;;
	esac
}

# stamp NAME: the line of the stamps that says that NAME was checked with its inputs of today.
stamp() (
	export LC_ALL=C
	printf '%s  %s\n' "$(inputs "$1" | sha256sum | cut -d' ' -f1)" "$1"
)

# unchanged NAME: whether NAME was checked with its inputs of today. A stamp can be written by hand
# or merged, so continuous integration believes those alone that have stood there for a day: with
# the changes that bring a stamp it checks for itself.
unchanged() {
	local line
	line=$(stamp "$1")
	grep -qxF "$line" "$stamps" 2>/dev/null || return 1
	if on_ci; then
		local since
		since=$(git log --format=%ct -S"$line" -- "$stamps" | head -1)
		[ -n "$since" ] && [ $(($(date +%s) - since)) -gt 86400 ] || return 1
	fi
	printf '%s: unchanged since checked\n' "$1"
}

# stamped fails where something generated has changed that no stamp tells of, before anything that
# takes long.
stamped() {
	local name line status=0
	kernel_hashes=$(PYTHONDONTWRITEBYTECODE=1 "$kernels"/_ptx/hashes.py) || return 0 # without a Python
	for name in $(generated_packages) $(awk '{ print "ptx/" $2 }' <<<"$kernel_hashes") entries bench; do
		line=$(stamp "$name")
		grep -qxF "$line" "$stamps" || {
			printf '%s has no line of today for %s: commit what "make generated" writes there\n' "$stamps" "$name"
			status=1
		}
	done
	return $status
}

# passed NAME: notes that the check of NAME has passed.
passed() {
	local line
	line=$(stamp "$1")
	grep -qxF "$line" "$stamps" 2>/dev/null && return
	stale+=("$line")
	{
		grep -v "  $1\$" "$stamps" 2>/dev/null || true
		printf '%s\n' "$line"
	} | LC_ALL=C sort -k2 >"$stamps.new"
	mv "$stamps.new" "$stamps"
}

bindings() {
	part "the C library"
	command -v "$(go env CC)" >/dev/null || install gcc libc6-dev || true
	if ! command -v "$(go env CC)" >/dev/null; then
		left_out "the C library: no C compiler"
		return
	fi
	# A NumPy that has the BLAS of the system, for tests of the drop-in BLAS.
	system_numpy() { /usr/bin/python3 -c 'import numpy' 2>/dev/null; }
	system_numpy || install python3-numpy || true
	system_numpy || left_out "the drop-in BLAS in Python: the system's Python has no NumPy"
	(
		cd bindings/c
		go vet ./...
		go mod tidy -diff
		gotest -count=1 ./... # results depend on files that go test does not see
	)
	if tool "$golangci_lint"; then
		(cd bindings/c && ../../.bin/tools/golangci-lint run ./...)
	else
		left_out "golangci-lint: it cannot be built here"
	fi
	part "the Python package: a wheel, in a virtual environment of its own"
	local python=$PWD/.bin/python/bin/python
	if ! python3 -m venv --clear .bin/python 2>/dev/null; then
		install python3-venv && python3 -m venv --clear .bin/python || true
	fi
	if "$python" -m pip install --quiet --disable-pip-version-check "./bindings/python[test]"; then
		(
			cd bindings/python
			"$python" -m pytest -q
			"$python" -m pytest -q --doctest-modules --pyargs halfulp --ignore-glob='*__main__.py'
			"$python" -m mypy
		)
	else
		left_out "the Python package: it cannot be installed here"
	fi
}

steps=${*:-all}
[ "$steps" != all ] || steps="quick levels generated bindings" # read by quick
[[ " $steps " != *" quick "* && " $steps " != *" levels "* ]] || { have_numpy; have_mpi; }
times=()
for name in $steps; do
	case $name in
	quick | levels | generated | bindings) ;;
	*)
		sed -n '/^# usage/,/^# What/p' "$0" | sed '$d; s/^# \?//'
		exit 2
		;;
	esac
	printf '\n===== %s\n' "$name"
	start=$SECONDS
	"$name"
	times+=("$name passed [$((SECONDS - start)) s]")
	printf '\n===== %s\n' "${times[-1]}"
done
printf '\n'
printf '%s\n' "${times[@]}"
