"""Ratios, side by side in one run."""

from __future__ import annotations

from project import OURS, Project

FIRST = """
import time
import program
a = wp.array([1.0, 2.0, 3.0], dtype=float, device="cpu")
began = time.perf_counter()
wp.launch(program.k, dim=3, inputs=[a], device="cpu")
say(seconds=time.perf_counter() - began)
"""


def test_first_launch_with_an_empty_folder_is_ten_times_as_fast_as_a_compile(project: Project) -> None:
    cold = project.run(OURS + FIRST)["seconds"]
    times = []
    for _ in range(3):
        project.forget()
        times.append(project.run(OURS + FIRST)["seconds"])
    own = min(project.run(FIRST)["seconds"] for _ in range(3))
    print(f"cold {cold:.3f} s, ours {min(times):.3f} s, own folder there {own:.3f} s")
    assert min(times) * 10 < cold
