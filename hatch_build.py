"""Wheel hook: build libjitcache.so and put it into the package."""

from __future__ import annotations

import os
import platform
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
for folder in ("cmake", "packages"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), folder))
import descriptions
import sbom

import build_folder
import build_library
import build_steps


class LibraryHook(BuildHookInterface):  # type: ignore[type-arg]
    """Builds the library with ``build_library.py`` and tags the wheel.

    ``JITCACHE_PORTABLE=1`` builds with zig against an old glibc and tags the
    wheel manylinux; ``JITCACHE_PORTABLE=aarch64`` does it for that machine.
    ``JITCACHE_PREBUILT`` names a library to take, which is checked first.
    """

    PLUGIN_NAME = "custom"
    _described: tempfile.TemporaryDirectory[str] | None = None

    def dependencies(self) -> list[str]:
        """Return the PyPI packages with the compilers that this machine lacks."""
        return [] if os.environ.get("JITCACHE_PREBUILT") else build_library.missing()

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build, and set where the results belong in the wheel."""
        try:
            self._initialize(version, build_data)
        except (build_library.Missing, build_library.Unsound) as e:
            self.app.abort(str(e))

    def _initialize(self, version: str, build_data: dict[str, Any]) -> None:
        build_steps.show()
        root = Path(self.root)
        portable = _machine(os.environ.get("JITCACHE_PORTABLE", ""))
        if not portable and not build_library.glibc_here():
            raise build_library.Missing(f"this Python's C library is not glibc: {build_library.NO_MUSL}")
        if os.environ.get("JITCACHE_PREBUILT"):
            library = Path(os.environ["JITCACHE_PREBUILT"])
            if problems := build_library.readback.problems(library):
                raise build_library.Unsound(f"{library}: {'; '.join(problems)}")
        else:
            for package in build_library.missing():
                self.app.display_info(f"using {package} from PyPI, because this machine has none")
            library = build_library.build(
                root / "build" / (f"wheel-{portable}" if portable else "lib"), portable=portable
            )
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{_platform(portable)}"
        for command in build_library.COMMANDS:
            build_data["shared_scripts"][str(library.parent / command)] = command
        startup = {str(root / "python" / name): name for name in ("_jitcache_startup.py", "jitcache_startup.pth")}
        if version == "editable":
            build_data["force_include_editable"].update(startup)
            observer = library.parent / build_library.OBSERVER
            build_data["shared_scripts"][str(observer)] = build_library.OBSERVER
            for built in (library, *(library.parent / program for program in build_library.BESIDE)):
                build_folder.link(root / "python" / "jitcache" / built.name, built)
            return
        build_data["force_include"].update(startup)
        # Linked programs ask the loader for this name.
        build_data["force_include"][str(library)] = f"jitcache/{build_library.SONAME}"
        for program in build_library.BESIDE:
            build_data["force_include"][str(library.parent / program)] = f"jitcache/{program}"
        build_data["force_include"][str(root / "include")] = "jitcache/include"
        # A folder of its own, because other wheels may be built at the same time.
        self._described = tempfile.TemporaryDirectory(prefix="jitcache-")
        described = Path(self._described.name)
        descriptions.write_wheel(described)
        for name in ("cmake", "pkgconfig", "libjitcache.so"):
            build_data["force_include"][str(described / name)] = f"jitcache/{name}"
        made_of = _made_of(library.parent, described, portable)
        inside = f"{self.metadata.name}-{self.metadata.version}.dist-info/sboms"
        build_data["force_include"][str(made_of)] = f"{inside}/{made_of.name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Remove the temporary files for the wheel."""
        if self._described:
            self._described.cleanup()


def _made_of(output: Path, to: Path, portable: str) -> Path:
    """Return the list of what is inside: that of a prebuilt library if it has one, else a new one."""
    given = output / sbom.NAME
    return given if os.environ.get("JITCACHE_PREBUILT") and given.exists() else sbom.write(output, to, portable)


def _machine(portable: str) -> str:
    """Return the machine of a portable wheel, "" if the wheel is not to be portable."""
    machine = platform.machine() if portable == "1" else portable
    if machine and machine not in build_library.MACHINES:
        raise build_library.Missing(f"there are no wheels for {machine}, only for {', '.join(build_library.MACHINES)}")
    return machine


def _platform(portable: str) -> str:
    if portable:
        glibc = build_library.GLIBC.replace(".", "_")
        return f"manylinux_{glibc}_{portable}.manylinux2014_{portable}"
    return sysconfig.get_platform().replace("-", "_").replace(".", "_")
