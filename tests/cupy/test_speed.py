"""Ratios, side by side in one run."""

from __future__ import annotations

from project import OURS, Project

FIRST = """
import time
began = time.perf_counter()
compiled()
say(seconds=time.perf_counter() - began)
"""


def test_first_kernel_of_a_process_is_found_faster_than_cupy_finds_its_own(project: Project) -> None:
    cold, own_cold = project.run(OURS + FIRST)["seconds"], project.run(FIRST)["seconds"]
    ours, own = [], []
    for _ in range(3):
        own.append(project.run(FIRST)["seconds"])
        ours.append(project.run(OURS + FIRST)["seconds"])
    print(f"cold {own_cold:.4f} s, ours cold {cold:.4f} s, own warm {min(own):.4f} s, ours warm {min(ours):.4f} s")
    assert min(ours) < min(own)
