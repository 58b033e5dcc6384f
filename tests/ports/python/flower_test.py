"""topwork.flower: twenty nodes with one class each give the head of central training; nodes that fail are left out; the
strategies of Flower train in rounds."""
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


@pytest.fixture
def identity(monkeypatch):
    """What Flower's processes set."""
    from flwr.supercore import task_identity
    for name in ("_run_id", "_task_id", "_node_id"):
        monkeypatch.setattr(task_identity.TaskIdentity, name, 1)


def test_a_single_round_is_central_training(identity):
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


def mixed(context):
    """A node's examples: of two of the four classes, which differ from node to node."""
    parts = [data_of(context.node_id * 4 + (context.node_id + shift) % 4) for shift in (0, 1)]
    return np.concatenate([X for X, _ in parts]), parts[0][1] + parts[1][1]


def accuracy(model):
    session = topwork.Session(model)
    tests = [data_of(node) for node in (101, 102, 103, 104)]
    return np.mean([CLASSES[session.run(x[None])[0].argmax()] == name for X, y in tests for x, name in zip(X, y)])


@pytest.mark.parametrize("name, options", [("FedAvg", {}), ("FedAdam", {"eta": 0.2, "eta_l": 0.05})])
def test_rounds(identity, name, options):
    from flwr.serverapp import strategy
    node_options = {"n_epochs": 4, "batch_size": 5, "learning_rate": 0.05, "n_threads": 1}
    grid = Grid(topwork.flower.rounds_app(MODEL, mixed, CLASSES, **node_options), 6)
    start = topwork.flower.initial_arrays(MODEL, CLASSES)
    assert all(not array.numpy().any() for array in start.values())
    result = getattr(strategy, name)(**options).start(grid, start, num_rounds=12)
    assert accuracy(topwork.flower.model_of(MODEL, CLASSES, start)) < 0.5
    model = topwork.flower.model_of(MODEL, CLASSES, result.arrays)
    assert model.labels == CLASSES and accuracy(model) > 0.9
    losses = [record["train-loss"] for record in result.train_metrics_clientapp.values()]
    judged = list(result.evaluate_metrics_clientapp.values())
    assert losses[-1] < losses[0] and judged[-1]["loss"] < judged[0]["loss"] and judged[-1]["accuracy"] > 0.9


def test_a_round_is_the_mean_of_the_nodes(identity):
    """One round of FedAvg is the mean, by examples, of what two trainers learn from the same start."""
    from flwr.serverapp import strategy
    options = {"n_epochs": 3, "learning_rate": 0.05, "n_threads": 1}
    context = lambda node: app_module.Context(1, node, {}, app_module.RecordDict(), {})  # noqa: E731
    uneven = lambda c: tuple(part[::3 - c.node_id] for part in mixed(c))  # noqa: E731
    grid = Grid(topwork.flower.rounds_app(MODEL, uneven, CLASSES, **options), 2)
    start = topwork.flower.initial_arrays(MODEL, CLASSES)
    arrays = strategy.FedAvg(fraction_evaluate=0.0).start(grid, start, num_rounds=1).arrays
    alone = []
    for node in (1, 2):
        X, y = uneven(context(node))
        trainer = topwork.Trainer(MODEL, optimizer="adam", validation_fraction=0.0, **options)
        trainer.partial_fit(X, y, classes=CLASSES)
        alone.append(trainer.get_parameters())
    for key, array in arrays.items():
        np.testing.assert_allclose(array.numpy(), (15 * alone[0][key] + 30 * alone[1][key]) / 45, atol=1e-5)


def test_rounds_refuse_heads_that_differ_between_nodes():
    with pytest.raises(ValueError, match="optimizer"):
        topwork.flower.initial_arrays(MODEL, CLASSES, optimizer="auto")
    with pytest.raises(ValueError, match="n_layers"):
        topwork.flower.initial_arrays(MODEL, CLASSES, n_layers="auto")
