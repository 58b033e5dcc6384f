"""Features a second by actors on Ray, beside one process without Ray (worthless on a busy machine).

  python ray_actors.py MODEL [--rows FILE]

Every actor has a session of one thread; Ray is told of four CPUs. What counts are the pictures done after every actor has
done its first batch, as starting takes seconds. All take turns; medians.
"""
import argparse
import os
import pathlib
import statistics
import sys
import time

import numpy as np
import ray

import topwork
import topwork.ray

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

BATCH = 8


class Timed(topwork.ray.Actor):
    """Tells when each batch was done, and by whom."""

    def __call__(self, batch):
        n = len(super().__call__(batch)["features"])
        return {"n": np.array([n]), "at": np.array([time.time()]), "actor": np.array([os.getpid()])}


def pictures(batch):
    shape = (len(batch["id"]), 224, 224, 3)
    return {"image": np.random.default_rng(int(batch["id"][0])).integers(0, 256, shape).astype(np.uint8)}


def by_actors(dataset, model, n_actors):
    settings = {"kind": "features", "model": model, "column": "image", "output": "features", "n_threads": 1,
                "input_scale": None, "key": "", "folder": ""}
    done = dataset.map_batches(Timed, fn_constructor_kwargs=settings, concurrency=n_actors, num_cpus=1, batch_size=BATCH,
                               batch_format="numpy").take_all()
    first = max(min(row["at"] for row in done if row["actor"] == actor) for actor in {row["actor"] for row in done})
    counted = [row for row in done if row["at"] > first]
    return sum(row["n"] for row in counted) / (max(row["at"] for row in counted) - first)


def without_ray(model, n):
    features = topwork.Features(model, n_threads=1)
    images = pictures({"id": np.arange(n)})["image"]
    features(images[:BATCH])
    start = time.perf_counter()
    features(images)
    return n / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--pictures", type=int, default=640)
    parser.add_argument("--rounds", type=int, default=3)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    dataset = ray.data.range(options.pictures, override_num_blocks=options.pictures // BATCH).map_batches(pictures).materialize()
    found = {0: [], 1: [], 2: [], 4: []}
    for _ in range(options.rounds):
        for n_actors, rates in found.items():
            rates.append(by_actors(dataset, options.model, n_actors) if n_actors else without_ray(options.model, options.pictures // 2))
            print(n_actors, "actors:", f"{rates[-1]:.1f} pictures/s", flush=True)
    without = found.pop(0)
    alone = statistics.median(without)
    for n_actors, rates in found.items():
        rate = statistics.median(rates)
        what = f"{n_actors} actor{'s' * (n_actors > 1)} of one thread"
        table.add("EfficientNet-Lite0", what, rate, alone, rate / alone, runs=list(zip(rates, without)))
    table.write(options.rows)


if __name__ == "__main__":
    main()
