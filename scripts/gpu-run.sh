#!/usr/bin/env bash
# Tests and measures halfulp on this machine's GPU, from a folder that "make gpu-pack"
# has built, and writes a record of it. Only the NVIDIA driver is needed.
#
#   ./run.sh [-o RECORD.json] [STEP ...]
#
# Steps, all by default: tests, conformance, sanitizer (left out where compute-sanitizer
# is not in the path), bench. The environment: BENCH (pattern of benchmarks), BENCHTIME,
# COUNT (repeats of a benchmark), SHORT=1 (short tests), STEP_TIMEOUT (seconds a step).
set -uo pipefail
cd "$(dirname "$0")"

record=record.json
if [ "${1:-}" = -o ]; then
	record=$2
	shift 2
fi
steps=${*:-tests conformance sanitizer bench}
short=${SHORT:+-test.short}
export HALFULP_WANT_GPU=1 HALFULP_TEST=long

log=$(mktemp)
trap 'rm -f "$log"' EXIT
outcomes=
failed=0

# run NAME COMMAND...: runs a command, and notes its time and outcome.
run() {
	local name=$1 start=$SECONDS outcome=passed
	shift
	printf '\n=== %s\n' "$name"
	timeout "${STEP_TIMEOUT:-3600}" "$@" 2>&1 | tee -a "$log"
	local status=${PIPESTATUS[0]}
	if [ "$status" -ne 0 ]; then
		outcome="failed, exit status $status"
		failed=1
	fi
	printf '=== %s: %s [%d s]\n' "$name" "$outcome" $((SECONDS - start))
	note "$name" "$outcome" $((SECONDS - start))
}

note() { outcomes+="${outcomes:+, }{\"step\": \"$1\", \"outcome\": \"$2\", \"seconds\": $3}"; }

each_test_binary() {
	local binary
	for binary in halfulp cuda gpu mem newton product rows seed several rns expansion ozaki reproduce; do
		if [ -x "$binary.test" ]; then
			"$1" "$binary"
		fi
	done
}

# The tests and benchmarks of the program, of method packages and of reproduce that do not concern
# the GPU are left out.
only() {
	case $1 in
	halfulp) echo OnDevice ;;
	rns | expansion | ozaki | reproduce) echo Device ;;
	*) echo . ;;
	esac
}

tests() { run "tests $1" "./$1.test" -test.v $short -test.run "$(only "$1")"; }

# Tests whose names begin with TestSanitize are small enough for compute-sanitizer.
sanitizer() {
	local tool
	if ! "./$1.test" -test.list '^TestSanitize' | grep -q .; then
		note "sanitizer $1" "left out: no tests for it" 0
		return
	fi
	for tool in memcheck racecheck initcheck; do
		run "$tool $1" compute-sanitizer --tool "$tool" --error-exitcode 9 "./$1.test" -test.short -test.run '^TestSanitize' -test.v
	done
}

bench() {
	run "bench $1" "./$1.test" -test.run '^$' -test.bench "${BENCH:-$(only "$1")}" -test.benchtime "${BENCHTIME:-1s}" -test.count "${COUNT:-5}" -test.timeout 0
}

# figures: the lines of benchmarks in the log, as JSON.
figures() {
	awk '/^Benchmark/ && NF >= 4 {
		printf "%s    {\"benchmark\": \"%s\", \"runs\": %s", (n++ ? ",\n" : ""), $1, $2
		for (i = 3; i < NF; i += 2) printf ", \"%s\": %s", $(i + 1), $i
		printf "}"
	}' "$log"
}

./halfulp info
for step in $steps; do
	case $step in
	tests)
		each_test_binary tests
		run "tests root" ./root.test -test.v $short -test.run Device
		;;
	conformance) run conformance ./conformance.test $short -test.timeout 0 ;;
	sanitizer)
		if command -v compute-sanitizer >/dev/null; then
			each_test_binary sanitizer
		else
			echo "compute-sanitizer: LEFT OUT, it is not here"
			note sanitizer "left out: compute-sanitizer is not here" 0
		fi
		;;
	bench) each_test_binary bench ;;
	*)
		echo "no step $step (want tests, conformance, sanitizer, bench)" >&2
		exit 2
		;;
	esac
done

cat >"$record" <<RECORD
{
  "date": "$(date -u +%Y-%m-%dT%H:%M:%SZ)",
  "commit": "$(paste -sd' ' commit)",
  "machine": $(./halfulp info --json),
  "steps": [$outcomes],
  "figures": [
$(figures)
  ]
}
RECORD
echo
echo "record: $record"
exit $failed
