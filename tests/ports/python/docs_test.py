"""The package's pages: every public name is documented, and pdoc writes them without a warning."""
import importlib
import inspect
import pathlib
import subprocess
import sys

import pytest

DOCS = pathlib.Path(__file__).resolve().parents[3] / "ports" / "python" / "docs.py"
MODULES = ["topwork", "topwork.sounds", "topwork.tflite"]  # these need no other engine


def public(owner, names):
    return [(name, getattr(owner, name)) for name in names if not name.startswith("_")]


def undocumented(module):
    """Public functions, classes, and their methods and properties without a docstring of their own or of a base."""
    names = getattr(module, "__all__", [name for name, value in vars(module).items()
                                        if getattr(value, "__module__", "") == module.__name__])
    for name, value in public(module, names):
        if not (inspect.isclass(value) or inspect.isroutine(value)):
            continue
        if not inspect.getdoc(value):
            yield f"{module.__name__}.{name}"
        if not inspect.isclass(value):
            continue
        for member, part in public(value, vars(value)):
            documents = isinstance(part, (property, classmethod, staticmethod)) or callable(part)
            if documents and not inspect.getdoc(getattr(value, member)):
                yield f"{module.__name__}.{name}.{member}"


@pytest.mark.parametrize("name", MODULES)
def test_every_public_name_is_documented(name):
    assert list(undocumented(importlib.import_module(name))) == []


def test_pages_are_written_without_a_warning(tmp_path):
    pytest.importorskip("pdoc", reason="pdoc is missing (toolchains/install-deps.sh python)")
    pytest.importorskip("flwr", reason="flwr is missing (toolchains/install-deps.sh python)")
    done = subprocess.run([sys.executable, str(DOCS), str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr, done.stderr
    page = (tmp_path / "topwork.html").read_text()
    for name in ("Trainer", "partial_fit", "Session", "Learner"):
        assert f'id="{name}' in page or f'.{name}"' in page, name
    for name in ("sounds", "tflite", "flower", "ray"):
        assert (tmp_path / "topwork" / f"{name}.html").exists()
