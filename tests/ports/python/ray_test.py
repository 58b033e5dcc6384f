"""topwork.ray: actors compute features and predictions; a file of them goes on where it ended and has each row once."""
import numpy as np
import pytest

ray = pytest.importorskip("ray", reason="ray is not installed (toolchains/install-deps.sh ray)")
pytest.importorskip("ray.data", reason="ray.data is not installed")
import pyarrow.parquet  # noqa: E402

import topwork  # noqa: E402
import topwork.ray  # noqa: E402
from ray_driver import DATA, MODEL, expected, in_order, rows, start, whole  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    start()
    yield
    ray.shutdown()


def dataset(n=70):
    return ray.data.from_items(rows()[:n], override_num_blocks=7)


def test_features(cluster):
    found = topwork.ray.features(dataset(), topwork.Model.open(MODEL), n_actors=2, batch_size=16).take_all()
    assert "image" not in found[0]
    np.testing.assert_array_equal(in_order(found, "features"), expected(topwork.Features, 70))


def test_predictions(cluster):
    found = topwork.ray.predictions(dataset(), str(MODEL), n_actors=2, batch_size=16).take_all()
    scores = expected(topwork.Scores, 70)
    np.testing.assert_array_equal(in_order(found, "scores"), scores)
    labels = topwork.Model.open(MODEL).labels
    assert all(row.get("label") == (labels[scores[row["row"]].argmax()] if labels else None) for row in found)


def test_a_file_goes_on_where_it_ended(cluster, tmp_path):
    """A first call does some rows, and a part that was begun is left over; the next does the others, and a third nothing."""
    path = tmp_path / "features.parquet"
    assert topwork.ray.write(dataset(30), path, MODEL, key="row", n_actors=2, batch_size=7) == 30
    parts = tmp_path / "other.parquet.parts"
    parts.mkdir()
    table = pyarrow.parquet.read_table(path).to_pydict()
    topwork.ray._write_part(parts, "row", {"row": np.array(table["row"]), "features": np.array(table["features"], np.float32)})
    (parts / "cut.parquet.host.1.draft").write_bytes(b"cut off")
    (parts / "origin").write_text(pyarrow.parquet.read_schema(path).metadata[b"topwork"].decode())
    assert topwork.ray.write(dataset(70), tmp_path / "other.parquet", MODEL, key="row", batch_size=7) == 70
    whole(tmp_path / "other.parquet", 70)
    assert topwork.ray.write(None, tmp_path / "other.parquet", MODEL, key="row") == 70
    with pytest.raises(ValueError, match="scores of"):
        topwork.ray.write(None, tmp_path / "other.parquet", MODEL, key="row", kind="scores")


def test_rows_that_are_there_are_left_out():
    missing = topwork.ray._Missing("row", {1})
    assert not missing({"row": np.int64(1)}) and missing({"row": np.int64(2)})


def test_the_same_row_twice_is_written_once(cluster, tmp_path):
    assert topwork.ray.write(dataset(40).union(dataset(30)), tmp_path / "f.parquet", MODEL, key="row", batch_size=9) == 40
    whole(tmp_path / "f.parquet", 40)
