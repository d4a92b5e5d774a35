"""Tests that calls leave no handles behind, and that garbage is collected while calls run."""

from __future__ import annotations

import gc
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import halfulp as hp

sys.path.insert(0, str(Path(__file__).parent))
import growth  # noqa: E402


@pytest.mark.parametrize("name", growth.CASES)
def test_handles(name):
    growth.CASES[name]()  # constants that stay
    before = growth.live()
    for _ in range(20):
        growth.CASES[name]()
    assert growth.live() == before


def test_collection_during_calls():
    a = np.random.default_rng(1).normal(size=(16, 16))
    want = hp.linalg.inv(a).tobytes(), hp.matmul(hp.array(a, "mp:120"), a).sum().hex()
    before = growth.live()
    ended = threading.Event()
    wrong: list[object] = []

    def work(k: int) -> None:
        try:
            for _ in range(2):
                garbage = [hp.array(a[:2], "mp:70") for _ in range(5)]
                garbage.append(garbage)
                got = hp.linalg.inv(a).tobytes(), hp.matmul(hp.array(a, "mp:120"), a).sum().hex()
                if got != want:
                    wrong.append(k)
        except BaseException as e:
            wrong.append(e)

    def collect() -> None:
        while not ended.is_set():
            gc.collect()

    collector = threading.Thread(target=collect)
    collector.start()
    threads = [threading.Thread(target=work, args=(k,)) for k in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ended.set()
    collector.join()
    assert not wrong and growth.live() == before
