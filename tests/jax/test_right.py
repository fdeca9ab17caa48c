"""What is found is what would be compiled."""

from __future__ import annotations

import base64
import hashlib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import samples
from project import CALL, OURS, OWN, Project

OTHER = "def f(x):\n    return jnp.cos(x) @ x.T + 1\n"
EXPLAIN = """
from jitcache.adapters.jax import _key
name = [e["name"] for e in adapter.entries() if e["name"] == "jit_f"][0]
say(changed=sorted(jitcache.default_cache().explain(_key.key_of(name + "-0")).get("changed", {})))
"""


def test_fresh_process_compiles_nothing_and_says_the_same(project: Project) -> None:
    first = project.run(OURS + CALL)
    assert project.compiled() == 1
    assert project.run(OURS + CALL) == first == project.run(CALL)
    assert project.compiled(None) > 0  # of the third, which has no cache
    assert project.run(OURS + CALL) == first
    assert project.compiled(None) == 0


def test_program_that_changed_is_compiled(project: Project) -> None:
    first = project.run(OURS + CALL)
    project.compiled()
    assert project.run(OURS + OTHER + CALL) != first
    assert project.compiled() == 1


def test_flag_that_changed_is_compiled_for(project: Project) -> None:
    project.run(OURS + CALL)
    project.compiled()
    project.run(OURS + CALL, XLA_FLAGS="--xla_cpu_max_isa=SSE4_2")
    assert project.compiled() == 1


def test_code_for_another_processor_is_not_used(project: Project) -> None:
    project.run(OURS + CALL, CPU="x86_64 skylake +avx512f")
    assert project.compiled() == 1
    project.run(OURS + CALL, CPU="x86_64 haswell -avx512f")
    assert project.compiled() == 1
    project.run(OURS + CALL, CPU="x86_64 skylake +avx512f")
    assert project.compiled() == 0


def test_miss_on_another_processor_is_explained(project: Project) -> None:
    project.run(OURS + CALL, CPU="x86_64 skylake +avx512f")
    assert "cpu" in project.run(OURS + EXPLAIN, CPU="x86_64 haswell -avx512f")["changed"]


def test_processor_is_the_one_that_xla_compiles_for(project: Project) -> None:
    say = "from jitcache.adapters.jax import _cpu\njax.jit(f)(X)\nsay(cpu=_cpu._said_by_xla())\n"
    here, less = (project.run(say, XLA_FLAGS=flags)["cpu"] for flags in ("", "--xla_cpu_max_isa=SSE4_2"))
    assert here is None or ("linux" in here and "avx2" not in less.replace("-avx2", ""))


def test_kernel_is_asked_where_xla_does_not_say(project: Project) -> None:
    """And what is of one machine or one moment does not count."""
    lines = "processor\t: {0}\nvendor_id\t: GenuineIntel\ncpu MHz\t\t: {0}000.1\nmicrocode\t: {0}\nflags\t\t: {1}\n\n"
    for name, text in {
        "a": lines.format(0, "fpu avx2"),
        "b": lines.format(1, "avx2 fpu"),
        "c": lines.format(0, "fpu"),
    }.items():
        (project.folder / name).write_text(text)
    (project.folder / "none").write_text("processor : 0\n")
    say = """
from jitcache import _processor
found = []
for name in ("a", "b", "c", "none", "missing"):
    _processor.CPUINFO = name
    _processor.description.cache_clear()
    found.append(_processor.description())
say(same=found[0] == found[1], other=found[0] != found[2], none=found[3:])
"""
    assert project.run(say) == {"same": True, "other": True, "none": [None, None]}


def test_nothing_is_kept_where_the_processor_is_not_known(project: Project) -> None:
    unknown = "from jitcache.adapters.jax import _key\n_key.description = lambda: None\n"
    for _ in range(2):
        said = project.run(unknown + OURS + CALL + "say(why=adapter.uncached(), count=adapter.count())\n")
        assert project.compiled() == 1
        assert said["count"] == 0
        assert set(said["why"]) == {"cpu not known"}


def test_entry_that_is_packed_otherwise_is_not_used(project: Project) -> None:
    """JAX's key does not always say which packer it has used."""
    other = """
from jax._src import compilation_cache
pack, unpack = compilation_cache.compress_executable, compilation_cache.decompress_executable
compilation_cache.compress_executable = lambda executable: b"other" + pack(executable)
compilation_cache.decompress_executable = lambda executable: unpack(executable.removeprefix(b"other"))
"""
    project.run(OURS + CALL)
    project.compiled()
    project.run(other + OURS + CALL)
    assert project.compiled() == 1
    project.run(OURS + CALL)
    assert project.compiled() == 0


def install_jaxlib(folder: Path, build: str) -> None:
    """Put a jaxlib into a folder of packages: the real one, as another build of its version lists it."""
    real = Path(next(iter(find_spec("jaxlib").submodule_search_locations)))
    if not (folder / "jaxlib").exists():
        (folder / "jaxlib").symlink_to(real)
    listed = folder / f"{next(real.parent.glob('jaxlib-*.dist-info')).name}/RECORD"
    listed.parent.mkdir(exist_ok=True)
    digest = base64.urlsafe_b64encode(hashlib.sha256(build.encode()).digest()).rstrip(b"=").decode()
    listed.write_text(f"jaxlib/__init__.py,sha256=x,1\njaxlib/libjax_common.so,sha256={digest},1\n")


def test_code_of_another_build_of_jaxlib_is_not_used(project: Project) -> None:
    """Of the same version, as one has who builds it."""
    for build, compiles in (("a", 1), ("b", 1), ("a", 0)):
        install_jaxlib(project.folder, build)
        project.run(OURS + CALL)
        assert project.compiled() == compiles


def test_with_jax_s_own_cache_it_is_used(project: Project) -> None:
    """The other column of the table in docs/jax.md."""
    for build, compiles in (("a", 1), ("b", 0)):
        install_jaxlib(project.folder, build)
        project.run(OWN + CALL)
        assert project.compiled() == compiles


def test_jaxlib_without_a_list_of_its_files_is_read(project: Project) -> None:
    code = """
import jaxlib
from pathlib import Path
from jitcache.adapters.jax import _build
room = Path("jaxlib")
room.mkdir()
jaxlib.__file__ = str(room / "__init__.py")
def built(text):
    (room / "library.so").write_text(text)
    _build.build.cache_clear()
    return _build.build()
say(builds=[built(text) for text in ("one", "other", "one")])
"""
    one, other, again = project.run(code)["builds"]
    assert other != one == again


def test_callbacks_of_the_host_are_called_by_the_process_that_asks(project: Project) -> None:
    """With JAX's own cache and with ours."""
    callback = """
import jax
calls = []
def g(x):
    jax.debug.callback(lambda v: calls.append(float(v)), x.sum())
    return x * 2
jax.jit(g)(X).block_until_ready()
jax.effects_barrier()
say(calls=calls)
"""
    for begin in (OURS, OWN):
        assert [project.run(begin + callback)["calls"] for _ in range(2)] == [[66.0], [66.0]]


SERIALIZED = """
from jax.experimental import serialize_executable
made = serialize_executable.serialize(jax.jit(f).lower(X).compile())
try:
    say(result=np.asarray(serialize_executable.deserialize_and_load(*made)(X)).tolist())
except Exception as e:
    say(error=str(e))
"""


def test_program_that_may_be_serialized_is_compiled(project: Project) -> None:
    """XLA on the CPU cannot serialize what it has loaded."""
    first = project.run(OURS + CALL)
    project.compiled()
    assert project.run(OURS + SERIALIZED) == first
    assert project.compiled() == 1
    assert set(project.run(OURS + SERIALIZED + "say(why=adapter.uncached())\n")["why"]) == {"may be serialized"}


def test_with_jax_s_own_cache_it_cannot_be_loaded(project: Project) -> None:
    """The other column of the table in docs/jax.md."""
    project.run(OWN + CALL)
    assert "error" in project.run(OWN + SERIALIZED)


def test_content_of_a_file_of_flags_counts(project: Project) -> None:
    """XLA reads it where XLA_FLAGS is the name of a file."""
    flags = project.folder / "flags"
    for text, compiles in (("", 1), ("--xla_disable_hlo_passes=fusion", 1), ("", 0)):
        flags.write_text(text + "\n")
        project.run(OURS + CALL, XLA_FLAGS=str(flags))
        assert project.compiled() == compiles


def test_lines_of_the_page_find_what_was_compiled(project: Project) -> None:
    install = samples.under("docs/jax.md", "JAX")
    public = (
        samples.under("docs/jax.md", "The public way")
        + "jax.config.update('jax_persistent_cache_min_compile_time_secs', 0)\n"
    )
    first = project.run(install + CALL)
    assert project.compiled() == 1
    # The entries of the one way are those of the other; JAX 0.10 has other keys for them.
    assert project.run(install + CALL) == project.run(public + CALL) == first
    assert project.compiled(None) == (version("jax") < "0.12")
    assert project.run(public + CALL) == first
    assert project.compiled(None) == 0
