"""What tests of topwork.ray share; as a program it writes features of digits into a file, to be killed and started again.

Usage: ray_driver.py FILE N_ACTORS
"""
import pathlib
import sys
import time

import numpy as np
import pyarrow.parquet
import ray

import topwork
import topwork.ray

ROOT = pathlib.Path(__file__).resolve().parents[3]
MODEL = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
DATA = ROOT / "models" / "zoo" / "data" / "digits_8x8" / "train"


def slowly(batch):
    """So that there is time to kill somebody between two batches."""
    time.sleep(0.2)
    return batch


def rows():
    return [{"image": picture, "row": i} for i, picture in enumerate(np.load(DATA / "x.npy"))]


def expected(kind, n):
    return kind(MODEL)(np.load(DATA / "x.npy")[:n])


def in_order(found, column):
    found = sorted(found, key=lambda row: row["row"])
    assert [row["row"] for row in found] == list(range(len(found)))
    return np.stack([row[column] for row in found])


def whole(path, n=600):
    table = pyarrow.parquet.read_table(path)
    np.testing.assert_array_equal(in_order(table.to_pylist(), "features"), expected(topwork.Features, n))
    assert not path.with_name(path.name + ".parts").exists()


def start():
    """Ray on four CPUs that it takes to be there. On a busy machine it may give up after half a minute: then once more."""
    while not ray.is_initialized():
        try:
            ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
        except Exception as error:  # noqa: BLE001: of no class of its own
            if "timed out" not in str(error):
                raise
            ray.shutdown()


if __name__ == "__main__":
    path, n_actors = sys.argv[1:]
    start()
    dataset = ray.data.from_items(rows(), override_num_blocks=30).map_batches(slowly, batch_size=20)
    n = topwork.ray.write(dataset, path, str(MODEL), key="row", n_actors=int(n_actors), batch_size=10)
    print(f"{n} rows are written")
