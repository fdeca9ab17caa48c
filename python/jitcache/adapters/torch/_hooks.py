"""Hooks: the functions of PyTorch that the adapter replaces, and whether they are as it knows them."""

from __future__ import annotations

import inspect
import logging
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _compiler, _details, _graphs, _probes, _torch_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from jitcache.adapters._frame import AdapterFrame

_CODE = "torch._inductor.codecache"
_AUTOGRAD = "torch._functorch._aot_autograd.autograd_cache"
_BUILDER = "torch._inductor.cpp_builder"
_ISA = "torch._inductor.cpu_vec_isa"


class Hook(NamedTuple):
    """A function of PyTorch's, by module and name, with its parameters; and what takes its place."""

    module: str
    name: str  # of a function, or of a class and its method
    parameters: tuple[str, ...]
    replace: Callable[[Any], Any]

    def holder(self) -> Any:
        """Return the module or class that has the function; None if it is not imported yet, or not there."""
        module = sys.modules.get(self.module)
        owner = self.name.rpartition(".")[0]
        return getattr(module, owner, None) if owner else module

    def original(self) -> Any:
        """Return the function as it is stored there, None if there is none."""
        return vars(self.holder() or object).get(self.name.rpartition(".")[2])

    def fits(self) -> bool:
        """Return whether the function has these parameters first."""
        function = self.original()
        try:
            found = inspect.signature(getattr(function, "__func__", function)).parameters
        except (TypeError, ValueError):
            return False
        return tuple(found)[: len(self.parameters)] == self.parameters

    def is_imported(self) -> bool:
        """Return whether its module is there, as far as the class that it needs."""
        return self.holder() is not None


def _store(name: str) -> Callable[[Any], Any]:
    def replace(original: Any) -> Any:
        module = sys.modules[_AUTOGRAD if name == "AOTAutogradCache" else _CODE]
        return _graphs.storing(getattr(module, name), original)

    return replace


#: What graphs need. Without one of them graphs are left to PyTorch's own cache.
_GRAPHS = (
    Hook(_CODE, "GuardedCache.iterate_over_candidates", ("cls", "local", "remote_cache", "key"), _graphs.looking_up),
    Hook(_CODE, "FxGraphCache._write_to_local_cache", ("key", "content"), _store("FxGraphCache")),
    Hook(_CODE, "FxGraphHashDetails.__init__", ("self", "gm", "example_inputs"), _details.completed),
)
#: The same, of a module that may be imported later.
_AOT = Hook(_AUTOGRAD, "AOTAutogradCache._write_to_local_cache", ("key", "content"), _store("AOTAutogradCache"))

#: What everything needs.
_COMPILER = Hook(_BUILDER, "run_compile_cmd", ("cmd_line", "cwd"), _compiler.building)

#: What saves processes or time. One that this PyTorch does not have is not needed: results are the same.
_MORE = (
    Hook(_CODE, "_worker_compile_cpp", ("lock_path", "cpp_builders"), _compiler.repairing),
    Hook(_CODE, "_precompile_header", ("header", "hashable_cmd_line"), _compiler.including),
    Hook(_CODE, "torch_key", (), _torch_key.remembering),
    Hook(_BUILDER, "cpp_compiler_search", ("search",), _probes.searching),
    Hook(_BUILDER, "_compiler_version_string", ("cpp_compiler",), _probes.saying_version),
    Hook(_BUILDER, "_is_intel_compiler", ("cpp_compiler",), _probes.recognising),
    Hook(_BUILDER, "get_compiler_version_info", ("compiler",), _probes.describing),
    Hook(_ISA, "VecISA.check_build", ("self", "code"), _probes.checking),
)

_originals: dict[Hook, Any] = {}
_how = ""
_tag: tuple[Any, str, str] | None = None  # the setting with the tag, what it was, and what it is


def attach(cache: AdapterFrame) -> str:
    """Replace the functions of all modules that are imported; return what is served, as ``install`` does."""
    global _how
    if not _how:
        _how = _fitting()
        if _how:
            _replace_all((_COMPILER, *(hook for hook in _MORE if _is_known(hook))))
        if _how == "all":
            _replace_all(_GRAPHS)
        elif _how:
            _set_tag()
    if _how == "all" and _AOT.is_imported():
        if _AOT in _originals or _AOT.fits():
            _replace_all((_AOT,))
        else:
            cache.reasons["AOTAutograd not known"] += 1
    return _how


def detach() -> None:
    """Put PyTorch's functions back."""
    global _how, _tag
    for hook, original in _originals.items():
        _exchange(hook, hook.original(), original)
    _originals.clear()
    if _tag is not None and _tag[0].cache_key_tag == _tag[2]:
        _tag[0].cache_key_tag = _tag[1]
    _how, _tag = "", None


def _fitting() -> str:
    """Return what can be served, and warn if that is not all."""
    import torch

    how, stays = "compiler", "graphs are left to PyTorch's own cache"
    left = next((hook for hook in _GRAPHS if not hook.fits()), None)
    if not _COMPILER.fits():
        left, how, stays = _COMPILER, "", "PyTorch's own cache stays as it is"
    if left is None:
        return "all"
    text = "torch: PyTorch %s: %s.%s is not as expected: %s"
    logging.getLogger("jitcache").warning(text, torch.__version__, left.module, left.name, stays)
    return how


def _is_known(hook: Hook) -> bool:
    if hook.name == "_is_intel_compiler" and hasattr(hook.holder(), "_compiler_version_string"):
        return False  # it asks that function
    return hook.fits() and (hook.name != "torch_key" or _torch_key.computes(hook.original()) is not None)


def _set_tag() -> None:
    """Put what PyTorch's key lacks into the tag that it has for others: its own cache is right then."""
    global _tag
    import torch

    config = torch.compiler.config
    before = config.cache_key_tag
    config.cache_key_tag = f"{before} jitcache {_details.vec_isa()} {_details.build()}"
    _tag = config, before, config.cache_key_tag


def _replace_all(hooks: tuple[Hook, ...]) -> None:
    for hook in hooks:
        if hook not in _originals:
            original = _originals[hook] = hook.original()
            _exchange(hook, original, hook.replace(original))


def _exchange(hook: Hook, old: Any, new: Any) -> None:
    """Set a function where it is defined, and in the modules of PyTorch that have imported it by its name."""
    name = hook.name.rpartition(".")[2]
    setattr(hook.holder(), name, new)
    if "." in hook.name:
        return
    for module_name, module in list(sys.modules.items()):
        if module_name.startswith("torch.") and vars(module).get(name) is old:
            setattr(module, name, new)
