"""The sample app of ports/python/recipes/flower_app in Flower's simulation: twenty nodes with two of ten classes each."""
import pytest

import flower_engine
import topwork
from flower_engine import Engine, accuracy, central, central_steps, same_scores

flower_engine.skip_without_flower()
pytest.importorskip("ray", reason="ray is not installed (toolchains/install-deps.sh ray)")


def test_a_single_round_of_twenty_is_central_training(tmp_path):
    with Engine(tmp_path, simulated=True) as engine:
        engine.run(20, output=tmp_path / "mine.tflite", penalty=1.0).wait_for("600 examples of 20 nodes", "is written")
    same_scores(tmp_path / "mine.tflite", central(range(600)))


@pytest.mark.parametrize("method", ["fedavg", "fedadam"])
def test_rounds_of_twenty_come_near_central_training(tmp_path, method):
    with Engine(tmp_path, simulated=True) as engine:
        engine.run(20, output=tmp_path / "mine.tflite", method=method).wait_for("is written")
    assert accuracy(topwork.Model.open(tmp_path / "mine.tflite")) > accuracy(central_steps()) - 0.03
