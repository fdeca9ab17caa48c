"""What a linker looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conftest import need
from rows import case, exported, source, void
from world import World, remake


@case
def static_library_named_by_its_path(w: World, _: Any) -> Callable[[], None]:
    library = w.archive("lib/libv.a", 1)
    source(w)
    w.asked["flags"] = [str(library)]
    return lambda: void(w.archive("lib/libv.a", 2))


@case
def library_through_a_variable(w: World, patch: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1)
    patch.setenv("LIBRARY_PATH", str(w.folder / "lib"))
    source(w)
    w.asked["libraries"] = ["v"]
    return lambda: void(w.archive("lib/libv.a", 2))


@case
def library_that_appears_earlier(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/libv.a", 1)
    (w.folder / "early").mkdir()
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late"]}
    return lambda: void(w.archive("early/libv.a", 2))


@case
def shared_library_that_appears_beside_the_static_one(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.shared("lib/libv.so", 2))


@case
def static_library_that_appears_for_static_linking(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/libv.a", 1)
    w.shared("early/libv.so", 3)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late", "-Wl,-Bstatic"]}
    w.asked["flags"].append("-nodefaultlibs")
    return lambda: void(w.archive("early/libv.a", 2))


@case
def folder_of_libraries_that_appears(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/libv.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late"]}
    return lambda: void(w.archive("early/libv.a", 2))


@case
def linker_script_in_place_of_a_library(w: World, _: Any) -> Callable[[], None]:
    w.object("lib/one.o", 1)
    w.object("lib/two.o", 2)
    w.put("lib/libv.so", f"INPUT({w.folder}/lib/one.o)\n")
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.put("lib/libv.so", f"INPUT({w.folder}/lib/two.o)\n"))


@case
def what_a_linker_script_names(w: World, _: Any) -> Callable[[], None]:
    w.archive("elsewhere/real.a", 1)
    w.put("lib/libv.so", f"INPUT({w.folder}/elsewhere/real.a)\n")
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.archive("elsewhere/real.a", 2))


@case
def member_of_a_thin_archive(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1, thin=True)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: void(w.object("lib/libv.a.value.o", 2))


@case
def link_to_a_library_that_is_retargeted(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/one.a", 1)
    w.archive("lib/two.a", 2)
    remake(w.folder / "lib/libv.a", "one.a")
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib"]}
    return lambda: remake(w.folder / "lib/libv.a", "two.a")


@case
def target_of_a_link_that_led_nowhere(w: World, _: Any) -> Callable[[], None]:
    (w.folder / "early").mkdir()
    remake(w.folder / "early/libv.a", "../far/libv.a")
    w.archive("late/libv.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/early", f"-L{w.folder}/late"]}
    return lambda: void(w.archive("far/libv.a", 2))


@case
def linker_option_with_a_file(w: World, _: Any) -> Callable[[], None]:
    w.put("v.map", "{ global: f; local: *; };\n")
    source(w, exported("f", "g"))
    w.asked["flags"] = [f"-Wl,--version-script,{w.folder}/v.map"]
    return lambda: void(w.put("v.map", "{ global: f; g; local: *; };\n"))


@case
def linker_option_joined_to_its_file(w: World, _: Any) -> Callable[[], None]:
    w.put("v.map", "{ global: f; local: *; };\n")
    source(w, exported("f", "g"))
    w.asked["flags"] = [f"-Wl,--version-script={w.folder}/v.map,-z,now"]
    return lambda: void(w.put("v.map", "{ global: g; local: *; };\n"))


@case
def linker_option_that_is_relative(w: World, patch: Any) -> Callable[[], None]:
    w.put("cwd/v.map", "{ global: f; local: *; };\n")
    patch.chdir(w.folder / "cwd")
    source(w, exported("f", "g"))
    w.asked["flags"] = ["-Wl,--version-script,v.map,-z,now"]
    return lambda: void(w.put("cwd/v.map", "{ global: g; local: *; };\n"))


@case
def object_that_an_implicit_script_names(w: World, _: Any) -> Callable[[], None]:
    w.object("one.o", 1)
    w.put("t.ld", f"INPUT({w.folder}/one.o)\n")
    source(w)
    w.asked["flags"] = [f"{w.folder}/t.ld"]
    return lambda: void(w.object("one.o", 2))


@case
def linker_option_in_words_of_its_own(w: World, _: Any) -> Callable[[], None]:
    w.put("v.map", "{ global: f; local: *; };\n")
    source(w, exported("f", "g"))
    w.asked["flags"] = ["-Xlinker", "--version-script", "-Xlinker", f"{w.folder}/v.map"]
    return lambda: void(w.put("v.map", "{ global: f; g; local: *; };\n"))


@case
def linker_option_that_is_cut_short(w: World, _: Any) -> Callable[[], None]:
    """Linkers know an option by as many letters as tell it from others."""
    w.put("v.map", "{ global: f; local: *; };\n")
    source(w, exported("f", "g"))
    w.asked["flags"] = [f"-Wl,--library-pa={w.folder}/lib,--version-scrip={w.folder}/v.map"]
    return lambda: void(w.put("v.map", "{ global: f; g; local: *; };\n"))


@case
def library_of_the_linkers_own_option(w: World, _: Any) -> Callable[[], None]:
    w.archive("lib/libv.a", 1)
    source(w)
    w.asked["flags"] = [f"-Wl,-L{w.folder}/lib,-lv"]
    return lambda: void(w.archive("lib/libv.a", 2))


@case
def library_by_the_name_of_its_file(w: World, _: Any) -> Callable[[], None]:
    w.archive("late/odd.name", 1)
    (w.folder / "early").mkdir()
    source(w)
    w.asked["flags"] = [f"-L{w.folder}/early", f"-L{w.folder}/late", "-l:odd.name"]
    return lambda: void(w.archive("early/odd.name", 2))


@case
def options_of_a_linker_in_a_file(w: World, _: Any) -> Callable[[], None]:
    w.put("words", "-z now\n")
    source(w, exported("f"))
    w.asked["flags"] = [f"-Wl,@{w.folder}/words"]
    return lambda: void(w.put("words", "-z now --defsym X=7\n"))


@case
def linker_script_of_an_option(w: World, _: Any) -> Callable[[], None]:
    text = "SECTIONS {{ .text : {{ *(.text*) }} .data : {{ *(.data*) }} here = {0}; }}\n"
    w.put("own.ld", text.format(1))
    source(w, exported("f"))
    w.asked["flags"] = ["-nostdlib", f"-Wl,-T,{w.folder}/own.ld"]
    return lambda: void(w.put("own.ld", text.format(2)))


@case
def group_of_a_linker_script(w: World, _: Any) -> Callable[[], None]:
    w.archive("deep/real.a", 1)
    w.put("lib/libv.a", "/* GNU ld script */\nGROUP ( AS_NEEDED ( -lreal_v ) )\n")
    w.archive("deep/libreal_v.a", 1)
    source(w)
    w.asked |= {"libraries": ["v"], "flags": [f"-L{w.folder}/lib", f"-L{w.folder}/deep"]}
    return lambda: void(w.archive("lib/libreal_v.a", 2))


@case
def file_that_every_library_starts_with(w: World, _: Any) -> Callable[[], None]:
    (w.folder / "bin").mkdir()
    source(w, exported("f"))
    w.asked["flags"] = [f"-B{w.folder}/bin"]
    return lambda: void(w.object("bin/crti.o", 2))


def by(linker: str) -> Callable[[World, Any], Callable[[], None]]:
    def row(w: World, _: Any) -> Callable[[], None]:
        need(f"ld.{linker}")
        w.archive("late/libv.a", 1)
        (w.folder / "early").mkdir()
        source(w)
        flags = [f"-fuse-ld={linker}", f"-L{w.folder}/early", f"-L{w.folder}/late"]
        w.asked |= {"libraries": ["v"], "flags": flags}
        return lambda: void(w.archive("early/libv.a", 2))

    row.__name__ = f"library_that_appears_earlier_for_{linker}"
    return row


for _linker in ("lld", "mold", "gold"):
    case(by(_linker))
