"""topwork.flower: twenty nodes with one class each give the head of central training; nodes that fail are left out."""
import numpy as np
import pytest

import topwork

app_module = pytest.importorskip("flwr.app", reason="flwr is not installed")
import topwork.flower  # noqa: E402: it needs flwr

MODEL = topwork.embedding_model(6, 4)
CLASSES = ["a", "b", "c", "d"]


def data_of(node, n=15):
    generator = np.random.default_rng(node)
    label = node % 4
    centre = np.random.default_rng(100 + label).normal(size=6) * 3
    return (centre + generator.normal(size=(n, 6))).astype(np.float32), [CLASSES[label]] * n


class Grid:
    """A grid whose nodes run in this process."""

    def __init__(self, app, n_nodes):
        self.app, self.n_nodes = app, n_nodes

    def get_node_ids(self):
        return range(1, self.n_nodes + 1)

    def send_and_receive(self, messages, timeout=None):
        for message in messages:
            node = message.metadata.dst_node_id
            if node == 7:
                continue  # killed: it never answers
            message.metadata.__dict__["_message_id"] = str(node)
            context = app_module.Context(run_id=1, node_id=node, node_config={"node": node},
                                         state=app_module.RecordDict(), run_config={})
            try:
                reply = self.app(message, context)
            except OSError as error:
                reply = app_module.Message(app_module.Error(1, str(error)), reply_to=message)
            reply.metadata.__dict__["_src_node_id"] = node
            yield reply


def load(context):
    if context.node_id == 9:
        raise OSError("its disk is full")
    return data_of(context.node_id)


def test_a_single_round_is_central_training(monkeypatch):
    from flwr.supercore import task_identity
    for name in ("_run_id", "_task_id", "_node_id"):  # what Flower's processes set
        monkeypatch.setattr(task_identity.TaskIdentity, name, 1)
    grid = Grid(topwork.flower.client_app(MODEL, load, penalty=1.0), 20)
    result = topwork.flower.single_round(grid, MODEL, CLASSES, penalty=1.0)
    assert set(result.failed) == {7, 9} and "disk" in result.failed[9]
    assert sum(result.counts.values()) == 18 * 15
    central = topwork.Learner(MODEL, classes=CLASSES, statistics_only=True, penalty=1.0)
    for node in result.counts:
        central.add(*data_of(node))
    test = np.concatenate([data_of(node)[0] for node in (21, 22, 23, 24)])
    np.testing.assert_allclose(result.learner.predict_proba(test), central.predict_proba(test), atol=1e-6)


def test_no_answer_is_an_error():
    with pytest.raises(RuntimeError, match="no node"):
        topwork.flower.single_round(Grid(None, 0), MODEL, CLASSES)
