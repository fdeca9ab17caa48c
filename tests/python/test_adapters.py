"""Adapters have one interface, that of their frame; importing one imports no framework."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import SimpleNamespace

import jitcache
import processes
import pytest
from jitcache.adapters._frame import AdapterFrame

FOLDER = Path(jitcache.__file__).parent / "adapters"

#: Adapters that are used by calls of their own, so that there is nothing to install or to take back.
CALLED = {"cuda_core", "cute_dsl", "underworld3"}
#: Adapters that have no kind of entries of their own.
WITHOUT_KIND = {"cuda_core", "underworld3"}

NAMES = sorted(p.parent.name for p in FOLDER.glob("*/__init__.py"))


def functions(name: str) -> list[str]:
    wanted = ["uncached"] if name != "underworld3" else []
    wanted += ["entries", "count", "clear"] if name not in WITHOUT_KIND else []
    return wanted + (["install", "uninstall"] if name not in CALLED else [])


@pytest.mark.parametrize("name", NAMES)
def test_adapter_has_the_functions_of_the_frame(name: str) -> None:
    adapter = importlib.import_module(f"jitcache.adapters.{name}")
    for function in functions(name):
        assert function in adapter.__all__, function
        ours, frames = inspect.signature(getattr(adapter, function)), inspect.signature(getattr(AdapterFrame, function))
        positional = [p for p in ours.parameters.values() if p.kind is not p.KEYWORD_ONLY]
        assert positional == list(frames.parameters.values())[1:], function
        returns = {"bool", "str"} if function == "install" else {frames.return_annotation}
        assert ours.return_annotation in returns, function
        assert inspect.getdoc(getattr(adapter, function)), function


def test_importing_adapters_imports_no_framework() -> None:
    ours = [f"jitcache.adapters.{name}" for name in NAMES]
    program = f"import sys, {', '.join(ours)}\nprint(*(m for m in sys.modules if '.' not in m))"
    frameworks = {"numba", "triton", "torch", "jax", "cupy", "warp", "cutlass", "cuda", "underworld3"}
    assert frameworks.isdisjoint(processes.check(program).split())


class Hooks:
    """The hooks of a framework that is, or is not, as expected."""

    def __init__(self, unfit: str = "") -> None:
        self.unfit, self.attached = lambda: unfit, False

    def attach(self, cache: AdapterFrame) -> None:
        self.attached, self.cache = True, cache

    def detach(self) -> None:
        self.attached = False


def framed(monkeypatch: pytest.MonkeyPatch, hooks: Hooks) -> AdapterFrame:
    monkeypatch.setitem(sys.modules, "framed", SimpleNamespace(__path__=[]))
    monkeypatch.setitem(sys.modules, "framed._hooks", hooks)
    return AdapterFrame("framed", "Framework", "framed", ("_framed-own",))


def test_install_serves_from_the_given_cache_until_uninstall(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hooks = Hooks()
    frame = framed(monkeypatch, hooks)
    with jitcache.Cache(tmp_path) as cache:
        assert frame.install(cache) is True
        assert hooks.attached
        assert hooks.cache() is cache
        frame.uninstall()
        assert not hooks.attached
        assert frame.given is None


def test_framework_that_is_not_as_expected_stays_as_it_is(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hooks = Hooks("Framework.compile")
    frame = framed(monkeypatch, hooks)
    with jitcache.Cache(tmp_path) as cache:
        assert frame.install(cache) is False
    assert not hooks.attached
    assert frame.given is None
    assert "framed: Framework.compile is not as expected: Framework's own cache stays as it is" in caplog.text


def test_entries_count_and_clear_are_about_the_adapter_alone(tmp_path: Path) -> None:
    with jitcache.Cache(tmp_path) as cache:
        for kind in ("framed", "_framed-own", "other"):
            cache.put(jitcache.Key(kind=kind), b"data", kind=kind)
        frame = AdapterFrame("framed", "Framework", "framed", ("_framed-own",))
        assert frame.count(cache) == len(frame.entries(cache)) == 1
        frame.clear(cache)
        assert [cache.count(kind) for kind in ("framed", "_framed-own", "other")] == [0, 0, 1]


def test_uncached_is_a_copy_of_the_counts() -> None:
    frame = AdapterFrame("framed", "Framework", "framed")
    frame.reasons["option"] += 2
    frame.uncached().clear()
    assert frame.uncached() == {"option": 2}
