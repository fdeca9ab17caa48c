"""Models, forward and backward: what a fresh process starts, what it says, and how long it takes beside PyTorch alone."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import pytest
from project import NOTHING, OURS, Compiler, Project

#: Builds the model that $MINE names, and compiles it; says what it computes, and how long the first round takes.
MODELS = """
import resource, time
torch.manual_seed(0)
class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = (torch.nn.Conv2d(16, 16, 3, padding=1) for _ in range(2))
        self.c, self.d = (torch.nn.BatchNorm2d(16) for _ in range(2))
    def forward(self, x):
        return torch.relu(self.d(self.b(torch.relu(self.c(self.a(x))))) + x)
def layer():
    return torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
def make(name):
    if name == "resnet":
        return Block(), torch.randn(2, 16, 16, 16)
    return layer(), torch.randn(2, 16, 64)
def go():
    model, x = make(os.environ["MINE"])
    plain = model(x)
    plain.square().sum().backward()
    slopes = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    began = time.perf_counter()
    y = torch.compile(model)(x)
    y.square().sum().backward()
    seconds = time.perf_counter() - began
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    say(
        seconds=seconds, processor=sum(u.ru_utime + u.ru_stime for u in used), sum=float(y.double().sum()), uncached=adapter.uncached(),
        error=float((y - plain).abs().max()), slope=max(float((p.grad - s).abs().max()) for p, s in zip(model.parameters(), slopes)),
        graphs=counters["inductor"]["fxgraph_cache_hit"], count=adapter.count(),
    )
"""
GO = MODELS + "go()\n"

#: What a whole day of all models may leave.
MOST = 10_000_000


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, compiler: Compiler) -> Iterator[Project]:
    """A project in which each model was compiled once, with PyTorch alone and with the cache."""
    yield Project(tmp_path_factory.mktemp("models") / "project", compiler)


@pytest.mark.parametrize("model", ["layer", "resnet"])
def test_fresh_process_starts_nothing_and_computes_the_same(filled: Project, model: str) -> None:
    first = filled.run(OURS + GO, MINE=model, **filled.folders(f"{model}-first"))
    assert filled.compiler.started()["cc1plus"] > 0
    filled.started()
    again = filled.run(OURS + GO, MINE=model, **filled.folders(f"{model}-second"))
    assert filled.started() == NOTHING
    assert (again["sum"], again["error"], again["slope"]) == (first["sum"], first["error"], first["slope"])
    assert again["error"] < 1e-4
    assert again["slope"] < 1e-2
    assert again["graphs"] >= 2
    print(f"{model}: first {first['seconds']:.1f} s, fresh process {again['seconds']:.2f} s")


def test_all_models_leave_less_than_ten_megabytes(filled: Project) -> None:
    assert filled.entries()
    assert sum(path.stat().st_size for path in filled.entries()) < MOST


def test_first_result_beside_pytorch_alone_with_its_folders_kept(filled: Project) -> None:
    """Five pairs in turn. The folders of ours are empty each time."""
    own = filled.folders("alone")
    filled.run(GO, MINE="layer", **own)
    pairs = []
    for n in range(5):
        alone = filled.run(GO, MINE="layer", **own)
        ours = filled.run(OURS + GO, MINE="layer", **filled.folders(f"pair-{n}"))
        assert alone["graphs"] == ours["graphs"]
        pairs.append((ours["seconds"] / alone["seconds"], ours["processor"] / alone["processor"]))
    times, processor = (sorted(column) for column in zip(*pairs))
    print("ours to PyTorch's own:", [f"{t:.2f}" for t in times], "processor:", [f"{t:.2f}" for t in processor])
    assert statistics.median(times) <= 0.8
    assert statistics.median(processor) <= 1.05
