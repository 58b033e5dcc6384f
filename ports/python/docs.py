"""Writes the package's pages from its docstrings, by pdoc: python ports/python/docs.py [FOLDER]

FOLDER is build/python-docs where none is named. The package must be importable (pip install ./ports/python), and pdoc
installed (pip install pdoc).
"""
import pathlib
import sys
import warnings

MODULES = ["topwork", "topwork.sounds", "topwork.tflite", "topwork.flower", "topwork.ray"]
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def main() -> None:
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "python-docs"
    # The sources beside this file lack the compiled module: the installed package is meant.
    sys.path[:] = [entry for entry in sys.path if pathlib.Path(entry).resolve() != HERE]
    try:
        import pdoc
    except ImportError:
        sys.exit("docs.py: pdoc is missing; install it: pip install pdoc")
    try:
        import topwork  # noqa: F401
    except ImportError as error:
        sys.exit(f"docs.py: the package cannot be imported ({error}); install it: pip install ./ports/python")
    # Fields of a NamedTuple stand in the pages under their names; pdoc does not find the types to link them.
    warnings.filterwarnings("ignore", "Error parsing type annotation ForwardRef")
    pdoc.render.configure(docformat="markdown", show_source=False)
    # Submodules that are not named have nothing for users but what the package itself offers.
    pdoc.pdoc(*MODULES, output_directory=folder)
    print(f"{folder}/index.html")


if __name__ == "__main__":
    main()
