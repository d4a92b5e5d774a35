"""Runs what the pages show: blocks of Python, and the commands of this package's own page."""

from __future__ import annotations

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
OWN = ROOT / "bindings" / "python" / "README.md"
BLOCK = re.compile(r"^```([a-z]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Commands that are not run: this package is installed before its tests, and pipx needs a network.
INSTALLS = re.compile(r"\$ (pip|pipx|make) ")


def blocks(page: Path) -> list[tuple[str, str, int]]:
    """Returns language, text and line of the blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [(m[1], m[2], text.count("\n", 0, m.start(2))) for m in BLOCK.finditer(text)]


def sessions(page: Path) -> list[tuple[str, int]]:
    return [(text, line) for language, text, line in blocks(page) if language == "python" and text.startswith(">>> ")]


PAGES = [p for p in sorted([ROOT / "README.md", OWN, *(ROOT / "docs").rglob("*.md")]) if sessions(p)]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_sessions(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for text, line in sessions(page):
        test = doctest.DocTestParser().get_doctest(text, names, f"{page.name}:{line}", str(page), line)
        runner.run(test, out=said.append, clear_globs=False)
        names = test.globs
    assert not said, "".join(said)


def test_commands(tmp_path: Path):
    program = shutil.which("halfulp", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("the program is not installed")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    for language, text, _ in blocks(OWN):
        for entry in re.split(r"^(?=\$ )", text, flags=re.MULTILINE) if language == "console" else ():
            if entry and not INSTALLS.match(entry):
                command, _, shown = entry[2:].partition("\n")
                done = subprocess.run(command, shell=True, cwd=tmp_path, env={**os.environ, "PATH": path}, text=True, stdout=-1, stderr=-2, check=False)
                assert (done.returncode, done.stdout) == (0, shown), command


def test_pages_have_sessions():
    assert len(PAGES) >= 2 and OWN in PAGES
