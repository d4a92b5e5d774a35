#!/usr/bin/env bash
# Everything that a change must pass, in five steps; "make check" and .ci/run call all of them.
# It prints the name of each part, with the seconds so far, and stops at the first failure.
# scripts/soak.sh has the checks that take longer.
#
# usage: scripts/check.sh [quick | lint | levels | generated | bindings | all]...
#
#   quick      build, formatting, go vet; without levels also short tests, of packages whose tests
#              take seconds
#   lint       functions that nothing reaches; golangci-lint
#   levels     the tests as a user runs them; then short ones: every instruction set, 32 bits,
#              arm64 in an emulator, the race detector; a search for fused instructions
#   generated  assembly, PTX and the module bench, where scripts/generated.sha256 does not have the
#              hash of their inputs; writes that file
#   bindings   the C library and the Python package are built, and programs that use them run
#
# What needs more than Go (a network, a C compiler, Debian packages) is left out, and the script
# says so, where that is missing. In continuous integration, with CI=true, the script installs it,
# as root, and fails where something is left out.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=$PWD/.bin/tools log=$PWD/.bin/log
# Wheels, archives and the programs for other processors are built with -trimpath. With this flag
# everywhere each package is compiled once for all of them. Tests then find Go's sources by GOROOT.
GOROOT=$(go env GOROOT)
export GOROOT GOFLAGS="${GOFLAGS:-} -trimpath" GOGC=${GOGC:-400} PIP_DISABLE_PIP_VERSION_CHECK=1
# Other modules take the packages that are compiled for this one in a workspace. Alone they would
# compile halfulp once more: with -trimpath the names of its files would have a version.
workspace=$PWD/.bin/go.work

part() {
	fail_with_others
	printf '\n=== %s [%d s]\n' "$*" "$SECONDS"
}
on_ci() { [ "${CI:-}" = true ]; }
have() { command -v "$1" >/dev/null; }
left_out() {
	printf '%s: LEFT OUT\n' "$*"
	! on_ci || { echo "in continuous integration nothing may be left out"; exit 1; }
}
has_flags() {
	local flag
	for flag; do grep -qw -- "$flag" /proc/cpuinfo 2>/dev/null || return 1; done
}
gotest() { go test -timeout 20m -vet=off "$@"; }
# in_modules COMMAND...: runs a command in the folders of both modules.
in_modules() {
	local folder
	for folder in . reproduce; do (cd "$folder" && GOWORK=$workspace "$@"); done
}

# beside NAME: runs a function beside the parts that follow. joined waits for all such functions and
# prints what they printed.
declare -A others=()
beside() {
	mkdir -p "$log"
	rm -f "$log/$1.failed"
	set -m # its processes are a group, which can be ended
	(
		trap "[ \$? = 0 ] || touch '$log/$1.failed'" EXIT
		others=()
		"$1"
	) >"$log/$1" 2>&1 </dev/null &
	set +m
	others[$1]=$!
}
fail_with_others() {
	local name
	for name in "${!others[@]}"; do
		[ ! -e "$log/$name.failed" ] || { cat "$log/$name"; echo "FAIL: $name"; exit 1; }
	done
}
joined() {
	local name
	for name in "${!others[@]}"; do
		wait "${others[$name]}" || true
		fail_with_others
		cat "$log/$name"
	done
	others=()
}
trap 'for name in "${!others[@]}"; do kill -- "-${others[$name]}" 2>/dev/null || true; done' EXIT

# prepare installs what the checks need in continuous integration.
prepare() {
	mkdir -p .bin && rm -f "$workspace" && GOWORK=$workspace go work init . reproduce bindings/c
	if on_ci && [ "$(id -u)" -eq 0 ] && have apt-get; then
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive timeout 300 apt-get install -qq --yes --no-install-recommends \
			g++ libc6-dev python3-venv python3-numpy qemu-user libc6-arm64-cross >/dev/null || true
		python3 -m venv .bin/numpy && .bin/numpy/bin/pip install --quiet numpy mpich==5.0.2 || true
		export HALFULP_PYTHON=$PWD/.bin/numpy/bin/python HALFULP_MPIEXEC=$PWD/.bin/numpy/bin/mpiexec
	fi
	"${HALFULP_PYTHON:-python3}" -c 'import numpy' 2>/dev/null || left_out "tests with NumPy: no Python has it"
	have "${HALFULP_MPIEXEC:-mpiexec}" || left_out "tests under MPI: there is no mpiexec"
	have g++ || left_out "GPU kernels, compiled for the host: there is no g++"
}

quick() {
	part "gofmt, go.mod, the width of comments, hashes of generated code"
	local unformatted
	unformatted=$(gofmt -l .)
	[ -z "$unformatted" ] || { printf 'gofmt would change:\n%s\n' "$unformatted"; exit 1; }
	in_modules go mod tidy -diff
	go run ./scripts/commentwidth
	! on_ci || scripts/generated.sh stale

	part "go build, go vet"
	go version
	in_modules go build ./...
	in_modules go vet ./...

	[[ " $steps " == *" levels "* ]] || { # otherwise levels runs all tests
		part "short tests"
		gotest -short $(go list ./... | grep -vE 'halfulp/halfulp$|/(conformance|distributed|linsolve|rns|cmd/halfulp|internal/(gpu(/.*)?|grid|residue|proof/(newton|seed))|scripts/docs)$')
	}
}

# lint finds functions that neither a program nor a test reaches, and runs golangci-lint.
lint() {
	local dead folder
	part "deadcode, golangci-lint"
	scripts/tools.sh || { left_out "deadcode, golangci-lint: they cannot be built here"; return; }
	dead=$(in_modules "$tools/deadcode" -test ./...)
	[ -z "$dead" ] || { printf '%s\n' "$dead"; exit 1; }
	for folder in . reproduce bindings/c; do
		# quick runs go vet, also on generated code.
		(cd "$folder" && GOWORK=$workspace "$tools/golangci-lint" run --disable govet --allow-parallel-runners ./...)
	done
}

levels() {
	part "go build ./... && go test ./..."
	[[ " $steps " == *" quick "* ]] || go build ./...
	GOFLAGS="$GOFLAGS -vet=off -timeout=20m" go test ./...
	(cd reproduce && GOWORK=$workspace gotest ./...)
	beside races # neither they nor what follows keep all processors busy

	part "the lower levels of instruction sets"
	# The conformance suite, with the routines of linsolve, runs under all levels by itself, and so
	# do many tests of these packages.
	local kernels=(./internal/{superacc,lanes,tiles,direct,dgemm,residue,modgemm,sgemm})
	level() { HALFULP_LEVEL=$1 gotest -short "${@:2}"; }
	level portable "${kernels[@]}"
	if has_flags avx512f avx512bw avx512dq avx512vl; then
		level avx2 "${kernels[@]}" ./rns ./expansion ./ozaki
		! has_flags avx512_vnni amx_tile amx_int8 || level avx512 "${kernels[@]}"
	else
		echo "HALFULP_LEVEL=avx512: NOT RUN: this processor has no AVX-512" # all tests run under avx2
	fi
	go vet -tags purego $(grep -rlE --include='*.go' '^//go:build.*purego' -- . | grep -v '/_' | xargs -n1 dirname | sort -u)

	part "other targets: 32 bits, compilers that fuse x*y + z, arm64"
	[ "$(go env GOHOSTARCH)" != amd64 ] || GOARCH=386 gotest -short ./internal/{num,decimal,superacc,lanes,direct,sgemm}
	scripts/fused.sh
	local arm64
	mapfile -t arm64 < <(find . -name '*_arm64*' ! -path '*/_*' ! -path './.bin/*' -printf '%h\n' | sort -u)
	# With the flags of scripts/fused.sh, whose compiled packages it takes. Listings are dropped.
	CGO_ENABLED=0 GOARCH=arm64 go vet -gcflags=./...=-S "${arm64[@]}" 2>/dev/null || CGO_ENABLED=0 GOARCH=arm64 go vet "${arm64[@]}"
	scripts/arm64.sh || { [ $? = 3 ] && left_out "tests on arm64" || exit 1; }
}

# races runs tests under the race detector.
races() {
	part "race detector"
	have "$(go env CC)" || { left_out "go test -race: no C compiler"; return; }
	# Packages that start goroutines, the suite, which calls every routine with several numbers of
	# threads, and linsolve. Tests say themselves which of them need no race detector.
	CGO_ENABLED=1 gotest -race -short ./conformance ./linsolve $(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir='_*' '^\s*go [a-z]|\.Go\(' -- cmd internal matfile |
		xargs -n1 dirname | sort -u | sed 's|^|./|')
}

generated() { scripts/generated.sh; }

bindings() {
	part "the C library"
	have "$(go env CC)" || { left_out "the C library: no C compiler"; return; }
	/usr/bin/python3 -c 'import numpy' 2>/dev/null || left_out "the drop-in BLAS in Python: the system's Python has no NumPy"
	(
		cd bindings/c
		export GOWORK=$workspace
		go vet ./...
		go mod tidy -diff
		gotest -count=1 ./... # results depend on files that go test does not see
	)
	part "the Python package: a wheel, in a virtual environment of its own"
	local python=$PWD/.bin/python/bin/python
	python3 -m venv --clear .bin/python && "$python" -m pip install --quiet "./bindings/python[test]" ||
		{ left_out "the Python package: it cannot be installed here"; return; }
	cd bindings/python
	"$python" -m pytest -q
	"$python" -m pytest -q --doctest-modules --pyargs halfulp --ignore-glob='*__main__.py'
	"$python" -m mypy
	cd ../..
}

steps=${*:-all}
[ "$steps" != all ] || steps="quick lint bindings levels generated"
for name in $steps; do
	[[ " quick lint levels generated bindings " == *" $name "* ]] || { sed -n '/^# usage/,/^# What/{/^# What/d; s/^# \?//; p}' "$0"; exit 2; }
done
prepare
for name in $steps; do
	case $name in
	"${steps##* }") "$name" ;;
	lint | bindings) beside "$name" ;;
	*) "$name" ;;
	esac
done
joined
printf '\n=== passed: %s [%d s]\n' "$steps" "$SECONDS"
