"""What is in a wheel and in the source distribution, as those who take them apart see it."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from checkout import ROOT, known, run

BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel of the library that is built already, and the source distribution."""
    folder = tmp_path_factory.mktemp("dist")
    prebuilt = str(ROOT / "build" / "lib" / "libjitcache.so")
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder)
    run(*build, "--wheel", ROOT, JITCACHE_PREBUILT=prebuilt)
    run(*build, "--sdist", ROOT)
    return folder


def test_index_would_take_them(dist: Path) -> None:
    assert "PASSED" in run(BIN / "twine", "check", "--strict", *dist.iterdir())


def test_list_of_what_is_inside_is_cyclonedx(dist: Path) -> None:
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as z:
        (name,) = [n for n in z.namelist() if ".dist-info/sboms/" in n]
        text = z.read(name).decode()
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"bom-ref"', '"bom-reference"')) is not None


def test_source_distribution_is_what_git_knows(dist: Path) -> None:
    """With its tests."""
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as t:
        names = {name.partition("/")[2] for name in t.getnames()}
    assert names - {"PKG-INFO"} == set(known())
