"""Warnings and the log."""

from __future__ import annotations

import logging
import os
import sys
import threading
from pathlib import Path

import jitcache
import pytest
from processes import check, run


def test_refused_directory_is_one_warning_and_no_error(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    out = check(
        """
        import logging, sys, jitcache
        logging.basicConfig(format="%(levelname)s %(name)s %(message)s", stream=sys.stdout)
        for _ in range(3):
            cache = jitcache.Cache(sys.argv[1])
            assert not cache.put(jitcache.Key(a=1), b"x") and cache.last_reason == "no directory"
            assert cache.get(jitcache.Key(a=1)) == b"x"   # in memory
        """,
        shared,
    )
    assert out.count("WARNING jitcache") == 1
    assert "chmod go-w" in out
    assert "for as long as the process runs" in out


@pytest.mark.control("nodegrade", rows=["509"])
@pytest.mark.parametrize("mode", [0o775, 0o777, 0o1777])
def test_directory_that_others_may_write_is_a_cache_in_memory(tmp_path: Path, mode: int) -> None:
    directory = tmp_path / "c"
    directory.mkdir()
    directory.chmod(mode)
    cache, compiles = jitcache.Cache(directory), []
    threads = [
        threading.Thread(target=cache.get_or_compile, args=(jitcache.Key(a=1), lambda: compiles.append(1) or b"x"))
        for _ in range(4)
    ]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert compiles == [1]
    assert cache.get(jitcache.Key(a=1)) == b"x"
    cache.put(jitcache.Key(a=1), b"y", replace=True)
    assert [cache.get(jitcache.Key(a=1)) for _ in range(3)] == [b"y"] * 3
    total = cache.stats()["total"]
    assert total["hits_memory"] >= 4
    assert (total["hits_disk"], total["puts"], total["not_stored"], total["compiles"]) == (0, 0, 2, 1)
    assert total["miss_reasons"]["no directory"] == total["misses"] >= 1
    assert list(directory.iterdir()) == []


def test_without_memory_too_nothing_is_said_to_be_kept(tmp_path: Path) -> None:
    tmp_path.chmod(0o775)
    out = check(
        """
        import logging, sys, jitcache
        logging.basicConfig(stream=sys.stdout)
        cache = jitcache.Cache(sys.argv[1], memory_size=0)
        cache.put(jitcache.Key(a=1), b"x")
        assert cache.get(jitcache.Key(a=1)) is None
        assert cache.stats()["total"]["misses"] == 1
        """,
        tmp_path,
    )
    assert "no result is kept" in out
    assert "in memory" not in out


def test_warning_reaches_the_logger(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with caplog.at_level(logging.WARNING, logger="jitcache"):
        jitcache.Cache(file)
    assert [r.name for r in caplog.records] == ["jitcache"]
    assert "memory only" in caplog.text


def test_another_interpreter_leaves_the_log_alone(tmp_path: Path) -> None:
    """It may end first. Python before 3.13 is only told that it is one."""
    out = check(
        """
        import _thread, logging, os, sys
        logging.basicConfig(stream=sys.stdout)
        import jitcache
        if sys.version_info >= (3, 13):
            import _interpreters
            jitcache.Cache(os.path.join(sys.argv[1], "main"))
            other = _interpreters.create()
            own = [f"import os, sys; sys.path[:] = {sys.path!r}", "import jitcache"]
            assert _interpreters.exec(other, "\\n".join([*own, f"jitcache.Cache({sys.argv[1]!r})"])) is None
            _interpreters.destroy(other)
        else:
            _thread._is_main_interpreter = lambda: False
        jitcache.Cache("/dev/null/nothing")
        """,
        tmp_path,
    )
    assert ("WARNING:jitcache" in out) == (sys.version_info >= (3, 13))


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="other interpreters are told that they are")
def test_process_ends_with_another_interpreter_left_over(tmp_path: Path) -> None:
    """Before Python 3.12 any interpreter may import ctypes, as in mod_wsgi."""
    check(
        """
        import sys
        import _xxsubinterpreters as interpreters
        other = interpreters.create()
        interpreters.run_string(other, f"import sys; sys.path[:] = {sys.path!r}")
        try:
            interpreters.run_string(other, f"import jitcache; cache = jitcache.Cache({sys.argv[1]!r})")
        except interpreters.RunFailedError as e:
            assert "ImportError" in str(e), e
        """,
        tmp_path,
    )


def test_handler_that_raises_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "not-a-directory-but-a-file").write_text("")
    check(
        """
        import logging, sys, jitcache
        class Bad(logging.Handler):
            def emit(self, record):
                raise RuntimeError
        logging.getLogger("jitcache").addHandler(Bad())
        logging.raiseExceptions = True
        assert jitcache.Cache(sys.argv[1]).get(jitcache.Key(a=1)) is None
        """,
        tmp_path / "not-a-directory-but-a-file",
    )


def test_nothing_is_printed_unless_asked_for(tmp_path: Path) -> None:
    p = run(
        "import jitcache, sys; c = jitcache.Cache(sys.argv[1]); c.get(jitcache.Key(a=1)); c.put(jitcache.Key(a=1), b'x')",
        tmp_path / "cache",
    )
    assert (p.returncode, p.stdout, p.stderr) == (0, "", "")


def test_miss_log_says_what_changed(tmp_path: Path) -> None:
    code = """
        import jitcache, sys
        c = jitcache.Cache(sys.argv[1])
        c.put(jitcache.Key(source="a", arch=1).named("saxpy"), b"x")
        c.get(jitcache.Key(source="b", arch=1).named("saxpy"))
    """
    p = run(code, tmp_path / "cache", env={"JITCACHE_LOG": "miss"})
    lines = p.stderr.splitlines()
    assert len(lines) == 1
    assert "miss: saxpy (" in lines[0]
    assert lines[0].endswith(": changed source")
    log = tmp_path / "log-%p"
    p = run(code, tmp_path / "cache", env={"JITCACHE_LOG": "miss", "JITCACHE_LOG_FILE": str(log)})
    assert p.stderr == ""
    (written,) = tmp_path.glob("log-*")
    assert written.name != "log-%p"
    assert "changed source" in written.read_text()


def test_bad_variable_is_a_warning_and_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = check(
        """
        import logging, sys, jitcache
        logging.basicConfig(stream=sys.stdout)
        assert jitcache.Cache(sys.argv[1]).put(jitcache.Key(a=1), b"x")
        """,
        tmp_path / "cache",
        env={"JITCACHE_SIZE": "huge"},
    )
    assert out.count("WARNING") == 1
    assert "JITCACHE_SIZE" in out


@pytest.mark.parametrize(
    ("value", "hit", "stored"),
    [("0", False, False), ("readonly", True, False), ("refresh", False, True), ("on", True, True)],
)
def test_environment_beats_the_code(tmp_path: Path, value: str, hit: bool, stored: bool) -> None:
    jitcache.Cache(tmp_path / "cache").put(jitcache.Key(n=1), b"x")
    check(
        """
        import sys, jitcache
        cache = jitcache.Cache(sys.argv[1])
        assert (cache.get(jitcache.Key(n=1)) is not None) == (sys.argv[2] == "True"), cache.last_miss
        assert cache.put(jitcache.Key(n=2), b"y") == (sys.argv[3] == "True"), cache.last_reason
        """,
        tmp_path / "cache",
        hit,
        stored,
        env={"JITCACHE": value},
    )


def test_variable_that_python_sets_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By itself Go would see only the environment at the start of the process."""
    monkeypatch.setitem(os.environ, "JITCACHE_DIR", str(tmp_path / "here"))
    assert jitcache.Cache().stats()["directory"] == str(tmp_path / "here")
