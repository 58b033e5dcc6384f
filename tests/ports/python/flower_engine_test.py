"""The sample app of ports/python/recipes/flower_app on Flower's own processes over TLS: a single round is central training."""
import numpy as np

import flower_engine
from flower_engine import Engine, central, same_scores, share

flower_engine.skip_without_flower()


def test_a_single_round_over_tls_is_central_training(tmp_path):
    with Engine(tmp_path) as engine:
        for i in range(2):
            engine.add_node(**{"partition-id": i, "num-partitions": 3})
        engine.run(output=tmp_path / "mine.tflite", penalty=1.0).wait_for("400 examples of 2 nodes", "is written")
    same_scores(tmp_path / "mine.tflite", central(np.concatenate([share(0, 3), share(1, 3)])))
