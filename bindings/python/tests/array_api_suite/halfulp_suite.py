"""A plugin of pytest that runs array-api-tests on halfulp, for scripts/arrayapi.sh.

left_out.txt lists the tests that are not run, floating.txt those that are run with arrays of
floating-point numbers only, each after a line "reason: ...". A "*" stands for any text.
HALFULP_SUITE is "all" or "floating", the types of a run; HALFULP_SUITE_RESULTS is the file of its
results. As a program it prints the results of files.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
_results: dict[str, tuple[str, str]] = {}


def listed(name: str) -> list[tuple[re.Pattern[str], str]]:
    """Returns the patterns of a list with their reasons."""
    z, reason = [], ""
    for line in (HERE / name).read_text().splitlines():
        line = line.strip()
        if line.startswith("reason: "):
            reason = line.removeprefix("reason: ")
        elif line and not line.startswith("#"):
            z.append((re.compile(re.escape(line).replace(r"\*", ".*")), reason))
    return z


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    import pytest

    left_out, floating = listed("left_out.txt"), listed("floating.txt")
    unused = {p.pattern for p, _ in left_out + floating}
    kept, others = [], []
    for item in items:
        name = item.nodeid.removeprefix("array_api_tests/")
        for pattern, reason in left_out:
            if pattern.fullmatch(name):
                unused.discard(pattern.pattern)
                item.add_marker(pytest.mark.skip(reason=reason))
                break
        of = [p for p, _ in floating if p.fullmatch(name)]
        unused -= {p.pattern for p in of}
        (kept if bool(of) == (os.environ["HALFULP_SUITE"] == "floating") else others).append(item)
    if unused and os.environ["HALFULP_SUITE"] == "all":
        raise pytest.UsageError("no test has one of the listed names: " + ", ".join(sorted(unused)))
    items[:] = kept
    config.hook.pytest_deselected(items=others)


def pytest_sessionstart(session: Any) -> None:
    from hypothesis import HealthCheck, settings

    # Slow examples are no failures.
    profile = settings(settings.get_profile("array-api-tests"), deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck))
    settings.register_profile("halfulp", profile)
    settings.load_profile("halfulp")
    if os.environ["HALFULP_SUITE"] == "floating":
        from array_api_tests import dtype_helpers as dh

        dh.numeric_dtypes = dh.real_dtypes = dh.real_float_dtypes
        dh.all_dtypes = (dh.xp.bool, *dh.real_float_dtypes)
        from array_api_tests import hypothesis_helpers as hh

        hh.all_dtypes = hh.sampled_from(dh.all_dtypes)


def pytest_runtest_logreport(report: Any) -> None:
    if report.skipped:
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reason = reason.removeprefix("Skipped: ")
        own = {r for _, r in listed("left_out.txt")}
        _results[report.nodeid] = "left out", reason if reason in own else "by the suite itself: " + reason
    elif report.failed:
        _results[report.nodeid] = "failed", ""
    elif report.when == "call":
        _results[report.nodeid] = "passed", ""


def pytest_sessionfinish(session: Any) -> None:
    if not hasattr(session.config, "workerinput"):
        Path(os.environ["HALFULP_SUITE_RESULTS"]).write_text(json.dumps(_results))


def main(files: list[str]) -> int:
    """Prints how many tests of each module passed, failed and were left out, and why."""
    results: dict[str, tuple[str, str]] = {}
    for file in files:
        results |= json.loads(Path(file).read_text())
    modules: dict[str, Counter[str]] = {}
    for test, (outcome, _) in results.items():
        module = test.split("::")[0].removeprefix("array_api_tests/test_").removesuffix(".py")
        modules.setdefault(module, Counter())[outcome] += 1
    modules["all"] = sum(modules.values(), Counter())
    print(f"{'':40}{'passed':>8}{'failed':>8}{'left out':>10}")
    for module, n in modules.items():
        print(f"{module:40}{n['passed']:8}{n['failed']:8}{n['left out']:10}")
    print("\nleft out")
    for reason, n in Counter(reason for outcome, reason in results.values() if outcome == "left out").most_common():
        print(f"{n:6}  {reason}")
    failed = [test for test, (outcome, _) in results.items() if outcome == "failed"]
    for test in failed:
        print("FAILED", test)
    return 1 if failed or not modules["all"]["passed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
