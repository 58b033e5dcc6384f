"""Heads taught on twenty nodes with two of ten classes each beside central training, in Flower's simulation: digits of the
test named rightly. Needs Ray (toolchains/install-deps.sh ray).

  python flower.py [--rows FILE]
"""
import argparse
import pathlib
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "peers"), str(ROOT / "tests" / "ports" / "python")]

import flower_engine as engine  # noqa: E402
import peers  # noqa: E402
import topwork  # noqa: E402

WAYS = [("single round", {"penalty": 1.0}), ("single round, secure aggregation", {"penalty": 1.0, "secure": True}),
        ("FedAvg, 15 rounds", {"method": "fedavg"}), ("FedAdam, 15 rounds", {"method": "fedadam"})]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, engine.Engine(pathlib.Path(name), simulated=True) as flower:
        for what, settings in WAYS:
            path = pathlib.Path(name) / "made.tflite"
            flower.run(20, output=path, **settings).wait_for("is written")
            central = engine.central_steps() if "method" in settings else engine.central(range(600))
            made = topwork.Model.open(path)
            difference = np.abs(engine.scores(made) - engine.scores(central)).max()
            ours, peer = 100 * engine.accuracy(made), 100 * engine.accuracy(central)
            print(f"{what}: {ours:.2f} %, central {peer:.2f} %, largest difference of a probability {difference:.2g}", flush=True)
            table.add("digits CNN, 20 nodes of 2 classes", what, ours, peer)
    table.write(options.rows)


if __name__ == "__main__":
    main()
