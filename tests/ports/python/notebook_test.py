"""ports/python/notebooks: executed by nbconvert from the first cell to the last, as a user does."""
import json
import pathlib
import re

import pytest

nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")
pytest.importorskip("PIL", reason="Pillow is not installed")
import topwork  # noqa: E402

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[3] / "ports" / "python" / "notebooks"


def executed(name, settings):
    """The notebook after its run, with `settings` behind the cell that is tagged "parameters"."""
    book = nbformat.read(NOTEBOOKS / name, as_version=4)
    place = next(i for i, cell in enumerate(book.cells) if "parameters" in cell.metadata.get("tags", []))
    book.cells.insert(place + 1, nbformat.v4.new_code_cell(settings))
    run = nbconvert.preprocessors.ExecutePreprocessor(timeout=None, kernel_name="python3")
    return run.preprocess(book, {"metadata": {"path": str(NOTEBOOKS)}})[0]


def printed(book):
    return "".join(output.text for cell in book.cells if cell.cell_type == "code"
                   for output in cell.outputs if output.output_type == "stream" and output.name == "stdout")


def test_teach(tmp_path):
    book = executed("teach.ipynb", f"OUTPUT = pathlib.Path({str(tmp_path / 'mine.tflite')!r})")
    text = printed(book)
    found, exchanged = map(int, re.search(r"(\d+) of (\d+) exchanged labels are among them", text).groups())
    assert exchanged >= 4 and found >= exchanged - 1, text
    assert float(re.search(r"right on pictures left out: ([\d.]+)%", text).group(1)) >= 95
    assert int(re.search(r"strangers: (\d+) of 80 refused", text).group(1)) >= 70
    pages = [output.data["text/html"] for cell in book.cells if cell.cell_type == "code" for output in cell.outputs
             if "text/html" in output.get("data", {})]
    assert len(pages) == 3 and "Trainer" in pages[0] and "data:image/png" in pages[1] and "unknown" in pages[2]
    assert topwork.Model.open(tmp_path / "mine.tflite").labels == [f"digit_{i}" for i in range(6)]
    page, _ = nbconvert.HTMLExporter().from_notebook_node(book)  # what is shown to those who do not run it
    assert page.count("data:image/png") >= pages[1].count("data:image/png") and "refused" in page


def test_a_camera_that_is_missing_is_said(tmp_path):
    """The pictures in the folder are then all there is."""
    settings = f"OUTPUT = pathlib.Path({str(tmp_path / 'mine.tflite')!r})\nFRAMES = 2\nimport sys\nsys.modules['cv2'] = None"
    assert "opencv-python is not installed" in printed(executed("teach.ipynb", settings))


def test_notebooks_are_stored_without_outputs():
    for path in NOTEBOOKS.glob("*.ipynb"):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            assert cell["cell_type"] == "markdown" or (not cell["outputs"] and cell["execution_count"] is None), path
