"""Links of several objects, with the real nvJitLink beside cuda.core's Linker."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest
import samples
from cuda.core import Program, ProgramOptions
from fakes import Witnesses, witnesses
from workspace import Workspace, build_counted_linker

USER = 'extern "C" __device__ int f(int); extern "C" __global__ void k(int *p) { *p = f(*p); }'
CALLED = 'extern "C" __device__ int f(int x) { return x * %d; } extern "C" __global__ void %s(int *p) { *p = 1; }'
SOURCES = {"user": USER, "three": CALLED % (3, "g"), "seven": CALLED % (7, "g")}

KINDS = {"cubin": "arch='sm_90'", "ltoir": "arch='sm_90', link_time_optimization=True"}
READ = """
def read(kind, *files):
    return [getattr(ObjectCode, "from_" + kind)(open(f + '.' + kind, 'rb').read(), name=f) for f in files]
def named(kind, *files):
    return [getattr(ObjectCode, "from_" + kind)(os.path.abspath(f + '.' + kind), name="file") for f in files]
from cuda.core import Linker, LinkerOptions
from jitcache.adapters.cuda_core import link, uncached
def code(made):
    return bytes(made.code).hex()
"""
ASK = READ + "print(code(link({objects}, {options}, {target!r})))"
FRESH = READ + "print(code(Linker(*{objects}, options=LinkerOptions(**{options})).link({target!r})))"


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of objects that can be linked."""
    folder = tmp_path_factory.mktemp("objects")
    for kind, more in (("cubin", {}), ("ltoir", {"link_time_optimization": True})):
        for name, source in SOURCES.items():
            program = Program(source, "c++", ProgramOptions(arch="sm_90", relocatable_device_code=True, **more))
            (folder / f"{name}.{kind}").write_bytes(program.compile(kind).code)
    return folder


class Links:
    """Processes that link in a workspace with those objects."""

    def __init__(self, workspace: Workspace, compiled: Path, counted: Path) -> None:
        for file in compiled.iterdir():
            workspace.folder.joinpath(file.name).write_bytes(file.read_bytes())
        self.workspace, self.linker = workspace, counted
        self._calls = Witnesses(witnesses(counted))
        self._calls.clear()

    def fill(self, form: str, kind: str = "cubin", options: str = "", target: str = "cubin", objects: str = "") -> str:
        objects = objects or f"read({kind!r}, 'user', 'three')"
        given = f"dict(**dict({KINDS[kind]}), {options})"
        return form.format(objects=objects, options=given, target=target)

    def run(self, code: str, **env: str) -> str:
        return self.workspace.run(code, COUNTED_LINKER=str(self.linker), **env)

    def ask(self, kind: str = "cubin", *, env: dict[str, str] | None = None, **words: str) -> str:
        return self.run(self.fill(ASK, kind, **words), **(env or {}))

    def fresh(self, kind: str = "cubin", **words: str) -> str:
        """What cuda.core makes, with an nvJitLink that is not counted."""
        return self.workspace.run(self.fill(FRESH, kind, **words))

    def links(self) -> int:
        """Take how often nvJitLink has linked since the last time, whoever asked it."""
        n = self._calls.count("nvJitLinkComplete")
        self._calls.clear()
        return n


@pytest.fixture
def links(workspace: Workspace, compiled: Path, counted_linker: Path) -> Links:
    return Links(workspace, compiled, counted_linker)


PTX = {"options": "ptx=True", "target": "ptx"}


@pytest.mark.parametrize(("kind", "words"), [("cubin", {}), ("ltoir", {}), ("ltoir", PTX)])
def test_code_is_that_of_a_fresh_link_and_linked_once(links: Links, kind: str, words: dict[str, str]) -> None:
    fresh = links.fresh(kind, **words)
    assert [links.ask(kind, **words) for _ in range(3)] == [fresh] * 3
    assert links.links() == 1


CHANGES = {
    "content": {"objects": "read('ltoir', 'user', 'seven')"},
    "order": {"objects": "read('ltoir', 'three', 'user')"},
    "lines": {"options": "lineinfo=True"},
    "options of ptxas": {"options": "ptxas_options=['-O1']"},
    "target": PTX,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_each_changed_input_is_a_miss(links: Links, change: dict[str, str]) -> None:
    before = links.ask("ltoir")
    assert links.ask("ltoir", **change) == links.fresh("ltoir", **change)
    assert links.ask("ltoir") == before
    assert links.links() == 2


@pytest.mark.parametrize(("without", "change"), [("objects", "content"), ("order", "order"), ("described", "lines")])
def test_without_it_in_the_key_the_change_is_not_seen(links: Links, without: str, change: str) -> None:
    before = links.ask("ltoir", env={"WITHOUT": without})
    assert links.ask("ltoir", env={"WITHOUT": without}, **CHANGES[change]) == before
    assert links.links() == 1


@pytest.mark.parametrize(("without", "sees"), [("", True), ("memory", False)])
def test_object_that_names_a_file_counts_by_its_content(links: Links, without: str, sees: bool) -> None:
    objects = {"objects": "named('cubin', 'user', 'three')"}
    before = links.ask(env={"WITHOUT": without}, **objects)
    assert before == links.fresh(**objects)
    other = links.workspace.folder / "seven.cubin"
    other.rename(links.workspace.folder / "three.cubin")
    after = links.ask(env={"WITHOUT": without}, **objects)
    assert (after == links.fresh(**objects)) is sees
    assert (after != before) is sees


def test_file_in_another_folder_hits(links: Links) -> None:
    before = links.ask(objects="named('cubin', 'user', 'three')")
    for name in ("user", "three"):
        links.workspace.write(f"else/{name}.cubin", "")
        (links.workspace.folder / f"{name}.cubin").rename(links.workspace.folder / f"else/{name}.cubin")
    assert links.ask(objects="named('cubin', 'else/user', 'else/three')") == before
    assert links.links() == 1


@pytest.mark.parametrize(("without", "count"), [("", 1), ("linked lease", 3)])
def test_one_of_many_processes_links(links: Links, without: str, count: int) -> None:
    code = "print('ready', flush=True); sys.stdin.readline()\n" + links.fill(ASK, "ltoir")
    env = {"COUNTED_LINKER": str(links.linker), "LINKED_SLEEP_MS": "1500", "WITHOUT": without}
    processes = [links.workspace.start(code, **env) for _ in range(3)]
    for p in processes:
        assert p.stdout.readline() == "ready\n"
    for p in processes:
        p.stdin.write("go\n")
        p.stdin.flush()
    assert len({links.workspace.end(p) for p in processes}) == 1
    assert links.links() == count


def test_damaged_entry_is_linked_again(links: Links) -> None:
    fresh = links.ask()
    (entry,) = [p for p in links.workspace.cache.rglob("*.jce") if bytes.fromhex(fresh) in p.read_bytes()]
    data = bytearray(entry.read_bytes())
    data[data.index(bytes.fromhex(fresh)) + 700] ^= 1
    entry.write_bytes(data)
    assert [links.ask() for _ in range(2)] == [fresh] * 2
    assert links.links() == 2


def test_directory_that_cannot_be_written_leaves_the_link_as_it_is(links: Links) -> None:
    links.workspace.write("file", "")
    assert links.ask(env={"JITCACHE_DIR": str(links.workspace.folder / "file" / "cache")}) == links.fresh()


UNCACHED = {
    "file": ("ptxas_options='--options-file=o'", "option that may name a file"),
    "blank": ("kernels_used='k -O0'", "option of another form"),
    "time": ("time=True", "option time"),
    "all processors": ("split_compile=0", "option split_compile"),
}


@pytest.mark.parametrize(("options", "reason"), UNCACHED.values(), ids=UNCACHED)
def test_what_cannot_be_keyed_is_linked_each_time_and_says_why(links: Links, options: str, reason: str) -> None:
    links.workspace.write("o", "-O3")
    code = links.fill(ASK, "ltoir", options=options) + "\nimport json; print(json.dumps(uncached()))"
    for _ in range(2):
        found, why = links.run(code).split("\n")
        assert found == links.fresh("ltoir", options=options)
        assert json.loads(why) == {reason: 1}
    assert links.links() == 2


@pytest.mark.parametrize(("without", "sees"), [("", True), ("options", False)])
def test_file_that_an_option_names_is_read_each_time(links: Links, without: str, sees: bool) -> None:
    words = {"options": "ptxas_options='--options-file=o'"}
    for text in ("-O0", "-O3"):
        links.workspace.write("o", text)
        found = links.ask("ltoir", env={"WITHOUT": without}, **words)
    assert (found == links.fresh("ltoir", **words)) is sees


@pytest.mark.parametrize(("without", "count"), [("", 2), ("library", 1)])
def test_another_build_of_nvjitlink_is_another_linker(links: Links, tmp_path: Path, without: str, count: int) -> None:
    other = build_counted_linker(tmp_path, "-Wl,--build-id=0x0123456789abcdef")
    before = links.ask(env={"WITHOUT": without})
    assert links.workspace.run(links.fill(ASK), COUNTED_LINKER=str(other), WITHOUT=without) == before
    assert links.links() + Witnesses(witnesses(other)).count("nvJitLinkComplete") == count


@pytest.mark.parametrize(("without", "count"), [("", 2), ("started", 1)])
def test_nvjitlink_that_was_changed_since_the_process_started_is_no_key(links: Links, without: str, count: int) -> None:
    began = "from jitcache import _module_files; _module_files._START = 0.0\n"
    for _ in range(2):
        links.run(began + links.fill(ASK), WITHOUT=without)
    assert links.links() == count


@pytest.mark.parametrize(("name", "count"), [("LLVM_OVERRIDE_PRODUCER", 2), ("SLURM_JOB_ID", 1), ("_", 1)])
def test_variables_that_nvjitlink_names_count(links: Links, name: str, count: int) -> None:
    asked = links.fill(ASK) + "\nprint(jitcache.default_cache().count('cuda.core'))"
    links.workspace.run("import jitcache\n" + asked)
    stored = links.workspace.run("import jitcache\n" + asked, **{name: "3"}).split()[-1]
    assert int(stored) == count


@pytest.mark.parametrize(("without", "loads"), [("", "False"), ("unloaded", "True")])
def test_hit_with_options_in_a_dict_does_not_load_nvjitlink(links: Links, without: str, loads: str) -> None:
    asked = links.fill(ASK) + "\nprint('libnvJitLink' in open('/proc/self/maps').read())"
    assert links.workspace.run(asked).split()[-1] == "True"
    assert links.workspace.run(asked, WITHOUT=without).split()[-1] == loads


def test_lines_of_the_page(links: Links) -> None:
    lines = "objects = {objects}\n" + samples.under("docs/cuda_core.md", "link") + "\nprint(len(code.code) > 500)"
    for _ in range(2):
        assert links.run(READ + links.fill(lines, "ltoir")) == "True"
    assert links.links() == 1


def test_log_is_written_on_a_hit_too(links: Links) -> None:
    code = """
import io
logs = [io.StringIO(), io.StringIO()]
for log in logs:
    made = link({objects}, LinkerOptions(**{options}), logs=log)
print(logs[0].getvalue() == logs[1].getvalue() != "", made.name, made.code_type)
"""
    assert links.run(READ + links.fill(code, options="verbose=True, name='both'")) == "True both cubin"
    assert links.links() == 1


def test_what_does_not_link_is_cuda_core_s_error_and_not_stored(links: Links) -> None:
    code = """
bad = [ObjectCode.from_cubin(b"garbage"), *{objects}]
no = [("Linker", lambda: Linker(*bad, options=LinkerOptions(**{options})).link("cubin")), ("link", lambda: link(bad, {options}))]
no += [("target", lambda: link({objects}, {options}, "ltoir")), ("option", lambda: link({objects}, dict(nothing=1)))]
no += [("none", lambda: link([], {options})), ("other", lambda: link([b"code"], {options}))]
for what, linked in no:
    try:
        linked()
    except Exception as e:
        print(type(e).__name__)
import jitcache
print(jitcache.default_cache().count('cuda.core'))
"""
    theirs, ours, target, option, none, other, stored = links.run(READ + links.fill(code)).split()
    assert ours == theirs
    assert (target, option, none, other, stored) == ("ValueError", "TypeError", "ValueError", "TypeError", "0")


def test_hit_takes_a_tenth_of_a_link_of_lto_ir(links: Links) -> None:
    """In one process, in turns, by the processor's time."""
    code = """
import json, time
objects, options = {objects}, LinkerOptions(**{options})
def taken(call):
    began = time.process_time()
    call()
    return time.process_time() - began
ours, theirs = (lambda: link(objects, options)), (lambda: Linker(*objects, options=options).link("cubin"))
ours(), ours(), theirs()
print(json.dumps([(taken(ours), taken(theirs)) for _ in range(15)]))
"""
    rounds = json.loads(links.workspace.run(READ + links.fill(code, "ltoir")))
    assert statistics.median(o / t for o, t in rounds) < 0.1
