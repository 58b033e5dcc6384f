"""Nodes of Flower that are killed in the middle of a round do not stop a run; takes minutes, as Flower waits for a node's
sign of life."""
import signal

import numpy as np

import flower_engine
import topwork
from flower_engine import Engine, accuracy, central, same_scores, share

flower_engine.skip_without_flower()


def kill_at_work(node, n_messages=1):
    """As soon as the node has got its n-th message to train."""
    while node.text().count("Receiving: train message") < n_messages:
        node.wait_for("Receiving: train message")
    node.stop(signal.SIGKILL)


def test_killed_nodes_are_left_out(tmp_path):
    with Engine(tmp_path) as engine:
        nodes = [engine.add_node(**{"partition-id": i, "num-partitions": 3}) for i in range(3)]
        run = engine.run(output=tmp_path / "sums.tflite", penalty=1.0)
        kill_at_work(nodes[1])
        run.wait_for("is left out", "400 examples of 2 nodes", "is written")
        same_scores(tmp_path / "sums.tflite", central(np.concatenate([share(0, 3), share(2, 3)])))

        back = engine.add_node(**{"partition-id": 1, "num-partitions": 3})
        run = engine.run(output=tmp_path / "rounds.tflite", method="fedavg", rounds=6)
        kill_at_work(back, 3)
        run.wait_for("2 results and 1 failures", "is written")
    # The classes that only the killed node knew are forgotten.
    assert accuracy(topwork.Model.open(tmp_path / "rounds.tflite")) > 0.6


def test_a_killed_node_does_not_stop_secure_aggregation(tmp_path):
    """It has shared its keys, and is killed when it is asked for its masked numbers."""
    with Engine(tmp_path) as engine:
        nodes = [engine.add_node(**{"partition-id": i, "num-partitions": 4}) for i in range(4)]
        run = engine.run(output=tmp_path / "sums.tflite", penalty=1.0, secure=True)
        kill_at_work(nodes[2], 3)
        run.wait_for("450 examples of 3 nodes", "is written")
    same_scores(tmp_path / "sums.tflite", central(np.concatenate([share(0, 4), share(1, 4), share(3, 4)])))
