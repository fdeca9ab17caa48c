"""What is public, and what becomes of JAX's own behaviour."""

from __future__ import annotations

import pytest
from project import CALL, OURS, OWN, Project

SETTINGS = """
names = ["jax_compilation_cache_dir", "jax_persistent_cache_min_compile_time_secs",
         "jax_persistent_cache_min_entry_size_bytes", "jax_persistent_cache_enable_xla_caches"]
def settings():
    return [getattr(jax.config, name) for name in names]
"""


def test_importing_the_adapter_does_not_import_jax(project: Project) -> None:
    code = "import subprocess\nsay(status=subprocess.call([sys.executable, '-c', 'import sys, jitcache.adapters.jax; sys.exit(\"jax\" in sys.modules)']))\n"
    assert project.run(code) == {"status": 0}


def test_small_programs_are_kept_and_without_the_adapter_are_not(project: Project) -> None:
    """JAX's default keeps what takes a second to compile."""
    assert project.run(OURS + CALL + "say(count=adapter.count())\n")["count"] > 0
    default = 'jax.config.update("jax_compilation_cache_dir", os.environ["OWN"])\n'
    project.run(default + CALL)
    assert not list(project.own.glob("*-cache"))


@pytest.mark.parametrize(
    "setting", ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"]
)
def test_threshold_of_the_user_counts(project: Project, setting: str) -> None:
    said = project.run(OURS + CALL + "say(count=adapter.count(), why=adapter.uncached())\n", **{setting: "1000000"})
    assert said["count"] == 0
    assert set(said["why"]) == {"not stored by jax"}


def test_jax_s_switch_still_switches_it_off(project: Project) -> None:
    code = OURS + 'jax.config.update("jax_enable_compilation_cache", False)\n' + CALL + "say(count=adapter.count())\n"
    assert project.run(code)["count"] == 0


def test_uninstall_gives_everything_back(project: Project) -> None:
    code = (
        SETTINGS
        + """
from jax._src import compilation_cache, compiler
places = lambda: [compilation_cache.get_file_cache, compiler.compile_or_get_cached]
before, functions = settings(), places()
adapter.install(); adapter.install(jitcache.Cache("elsewhere"))
assert settings() != before and places() != functions
adapter.uninstall()
say(same=settings() == before and places() == functions)
"""
    )
    assert project.run(code) == {"same": True}


def test_directory_of_the_user_is_not_touched(project: Project) -> None:
    code = OWN + OURS + SETTINGS + CALL + "say(directory=settings()[0], count=adapter.count())\n"
    said = project.run(code)
    assert said["directory"] == str(project.own)
    assert said["count"] > 0
    assert not project.own.exists()


@pytest.mark.parametrize("env", [{"JITCACHE": "0"}, {"JITCACHE_LIBRARY": "/nonexistent"}])
def test_where_jitcache_cannot_be_used_jax_s_own_cache_is(project: Project, env: dict[str, str]) -> None:
    code = (
        OWN
        + SETTINGS
        + "before = settings()\nway = adapter.install()\nassert settings() == before\n"
        + CALL
        + "say(way=way)\n"
    )
    assert project.run(code, **env) == {"way": ""}
    assert list(project.own.glob("jit_f-*-cache"))
    assert "JAX's own" in project.errors
    project.compiled()
    project.run(code, **env)
    assert project.compiled() == 0


@pytest.mark.parametrize("use", ["readonly", "refresh"])
def test_switches_of_jitcache_count(project: Project, use: str) -> None:
    project.run(OURS + CALL)
    project.compiled()
    project.run(OURS + CALL, JITCACHE=use)
    assert project.compiled() == (1 if use == "refresh" else 0)


def test_clear_and_count_are_those_of_its_own_entries(project: Project) -> None:
    code = (
        OURS
        + """
jitcache.default_cache().put(jitcache.Key(a=1), b"x", kind="other")
call()
own, all_ = adapter.count(), len(jitcache.default_cache())
names = {e["name"] for e in adapter.entries()}
adapter.clear()
say(others=all_ - own, left=len(jitcache.default_cache()), count=adapter.count(), named="jit_f" in names)
"""
    )
    assert project.run(code) == {"others": 1, "left": 1, "count": 0, "named": True}


def test_given_cache_is_the_one(project: Project) -> None:
    code = (
        "assert adapter.install(jitcache.Cache('given')) == 'lease'\n"
        + CALL
        + "say(given=adapter.count(), other=len(jitcache.default_cache()))\n"
    )
    said = project.run(code)
    assert said["given"] > 0
    assert said["other"] == 0


def test_jax_s_reset_leaves_it_in_place(project: Project) -> None:
    code = (
        OURS
        + "from jax._src import compilation_cache\ncompilation_cache.reset_cache()\n"
        + CALL
        + "say(count=adapter.count())\n"
    )
    assert project.run(code)["count"] > 0


@pytest.mark.parametrize("begin", [OURS, OWN])
def test_contents_are_checked_where_jax_is_asked_to(project: Project, begin: str) -> None:
    """It compiles what it finds once more, and raises if XLA's result differs, as XLA's often does."""
    check = """
if not hasattr(jax.config, "jax_compilation_cache_check_contents"):
    jax.clear_caches()
    jax.config.update("jax_enable_compilation_cache", False)
else:
    jax.config.update("jax_compilation_cache_check_contents", True)
try:
    call()
except Exception as e:
    assert type(e).__name__ == "CacheVerificationError"
say(end=True)
"""
    project.run(begin + CALL)
    project.compiled()
    project.run(begin + check)
    assert project.compiled() == 1


# -- a JAX that the adapter does not know

UNKNOWN = """
from jax._src import compiler
known = compiler.compile_or_get_cached
def compile_or_get_cached(backend, module, *args, **more):
    return known(backend, module, *args, **more)
compiler.compile_or_get_cached = compile_or_get_cached
"""


def test_jax_that_is_not_known_is_served_by_the_public_way(project: Project) -> None:
    code = UNKNOWN + "assert adapter.install() == 'path'\n" + CALL
    first = project.run(code)
    assert "several processes may compile the same" in project.errors
    assert project.compiled() == 1
    assert project.run(code) == first
    assert project.compiled(None) == 0


def test_jax_that_is_not_known_keeps_its_own_cache_without_etils(project: Project) -> None:
    code = "sys.modules['etils'] = None\n" + OWN + UNKNOWN + "assert adapter.install() == ''\n" + CALL
    project.run(code)
    assert "etils is missing" in project.errors
    assert list(project.own.glob("jit_f-*-cache"))


SCHEME = """
adapter.register()
jax.config.update("jax_compilation_cache_dir", "jitcache://")
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
"""


def test_scheme_needs_only_what_is_public_and_repairs(project: Project) -> None:
    first = project.run(SCHEME + CALL)
    assert project.compiled() == 1
    for path in project.entries():
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:-9])
    for compiles in (1, 0):
        assert project.run(SCHEME + CALL) == first
        assert "Error reading" not in project.errors
        assert project.compiled() == compiles


@pytest.mark.parametrize("how", ["off", "no library", "refused"])
def test_scheme_without_a_cache_keeps_nothing_and_fails_no_program(project: Project, how: str) -> None:
    env = {"off": {"JITCACHE": "0"}, "no library": {"JITCACHE_LIBRARY": "/nonexistent"}}.get(how, {})
    if how == "refused":
        project.cache.mkdir(mode=0o777, parents=True, exist_ok=True)
        project.cache.chmod(0o777)
    plain = project.run(CALL)
    project.compiled()
    for _ in range(2):
        assert project.run(SCHEME + CALL, **env) == plain
        assert "what is compiled is not kept" in project.errors
        assert project.compiled() == 1
    assert not project.entries()


def test_both_ways_share_entries(project: Project) -> None:
    """Where XLA's own caches are off: the keys of JAX 0.10 have the folder of those."""
    project.run(OURS + CALL)
    project.compiled()
    project.run(SCHEME + 'jax.config.update("jax_persistent_cache_enable_xla_caches", "none")\n' + CALL)
    assert project.compiled(None) == 0
