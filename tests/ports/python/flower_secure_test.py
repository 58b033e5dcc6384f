"""Secure aggregation and differential privacy of topwork.flower, by Flower's own protocol in one process: the server sees
masked numbers, the single round stays exact, nodes may drop out, and Flower's mods work in rounds."""
import copy

import numpy as np
import pytest

import topwork

app_module = pytest.importorskip("flwr.app", reason="flwr is not installed")
import flwr.common  # noqa: E402
from flwr.clientapp.mod import LocalDpMod, adaptiveclipping_mod, fixedclipping_mod  # noqa: E402
from flwr.serverapp import strategy  # noqa: E402

import topwork.flower  # noqa: E402
from flower_test import CLASSES, MODEL, accuracy, data_of, identity, mixed  # noqa: E402, F401

STEPS = {"n_epochs": 4, "batch_size": 5, "learning_rate": 0.05, "optimizer": "sgd", "n_threads": 1}


class Grid:
    """Nodes in this process that keep their state. drop: by node, the step from which on it is dead: 0 keys, 1 shares, 2
    masked numbers, 3 unmasking. sent: the replies."""

    def __init__(self, app, n_nodes, drop=()):
        self.app, self.n_nodes, self.drop, self.step, self.sent = app, n_nodes, dict(drop), {}, []
        self.contexts = {node: app_module.Context(1, node, {}, app_module.RecordDict(), {}) for node in self.get_node_ids()}

    def get_node_ids(self):
        return range(1, self.n_nodes + 1)

    def send_and_receive(self, messages, timeout=None):
        return [reply for reply in map(self.answer, messages) if reply is not None]

    def answer(self, message):
        node = message.metadata.dst_node_id
        step = self.step[node] = self.step.get(node, -1) + 1
        if step >= self.drop.get(node, 100):
            return None
        message.metadata.__dict__["_message_id"] = str(node)
        message.content = copy.deepcopy(message.content)  # as if it had travelled
        try:
            reply = self.app(message, self.contexts[node])
        except Exception as error:  # noqa: BLE001: as Flower's nodes do
            reply = app_module.Message(app_module.Error(1, str(error)), reply_to=message)
        reply.metadata.__dict__["_src_node_id"] = node
        self.sent.append(copy.deepcopy(reply.content) if reply.has_content() else None)
        return reply


def load(context):
    return data_of(context.node_id)


def single(drop=(), n_nodes=8, **options):
    grid = Grid(topwork.flower.client_app(MODEL, load, penalty=1.0, secure=True), n_nodes, drop)
    return grid, topwork.flower.single_round(topwork.flower.SecureGrid(grid, **options), MODEL, CLASSES, penalty=1.0)


def hides_arrays(grid):
    """Nodes have sent no array but masked ones, all of whose bits look drawn by chance."""
    masked = [flwr.common.bytes_to_ndarray(part) for content in grid.sent
              for part in content.config_records.get("secaggplus_configs", {}).get("masked_params", [])]
    bits = np.unpackbits(np.concatenate([part.reshape(-1) for part in masked]).astype("<u4").view(np.uint8))
    bare = [record for content in grid.sent for record in content.array_records.values() if len(record)]
    return not bare and bits.size > 1000 and abs(bits.mean() - 0.5) < 0.05


def is_central(result, nodes):
    central = topwork.Learner(MODEL, classes=CLASSES, statistics_only=True, penalty=1.0)
    for node in nodes:
        central.add(*data_of(node))
    assert set(result.counts) == set(nodes) and result.learner.info["n_examples"] == 15 * len(nodes)
    test = np.concatenate([data_of(node)[0] for node in (21, 22, 23, 24)])
    np.testing.assert_allclose(result.learner.predict_proba(test), central.predict_proba(test), atol=1e-6)


def test_a_single_round_is_exact_and_hides_the_nodes(identity):  # noqa: F811
    grid, result = single()
    is_central(result, range(1, 9))
    assert not result.failed and set(result.counts.values()) == {-1}
    assert hides_arrays(grid)
    assert not any("file" in record for content in grid.sent for record in content.config_records.values())


@pytest.mark.parametrize("drop", [{3: 0}, {3: 1}, {3: 2, 5: 2}, {3: 3}, {2: 0, 3: 1, 5: 2}])
def test_nodes_drop_out(identity, drop):  # noqa: F811
    grid, result = single(drop, reconstruction_threshold=0.5)
    is_central(result, set(range(1, 9)) - {node for node, step in drop.items() if step < 3})
    assert set(result.failed) == {node for node, step in drop.items() if step < 3}


def test_too_few_nodes_are_an_error(identity):  # noqa: F811
    with pytest.raises(RuntimeError, match="too few"):
        single({node: 2 for node in range(1, 8)})


def test_a_secure_node_refuses_a_plain_server(identity):  # noqa: F811
    grid = Grid(topwork.flower.client_app(MODEL, load, secure=True), 2)
    with pytest.raises(RuntimeError, match="SecureGrid"):
        topwork.flower.single_round(grid, MODEL, CLASSES)


def rounds(n_rounds=8, wrap=lambda chosen: chosen, chosen=None, secure=False, n_nodes=6, **options):
    grid = Grid(topwork.flower.rounds_app(MODEL, mixed, CLASSES, secure=secure, **STEPS, **options), n_nodes)
    start = topwork.flower.initial_arrays(MODEL, CLASSES)
    used = topwork.flower.SecureGrid(grid, max_weight=50.0) if secure else grid
    result = wrap(chosen or strategy.FedAvg()).start(used, start, num_rounds=n_rounds)
    return grid, result, topwork.flower.model_of(MODEL, CLASSES, result.arrays)


def test_secure_rounds_are_the_plain_ones(identity):  # noqa: F811
    _, plain, _ = rounds(1)
    grid, secure, _ = rounds(1, secure=True)
    for name, array in plain.arrays.items():
        np.testing.assert_allclose(secure.arrays[name].numpy(), array.numpy(), atol=1e-4)
        assert secure.arrays[name].dtype == array.dtype
    assert hides_arrays(grid)


@pytest.mark.parametrize("chosen", [None, strategy.FedAdam(eta=0.2, eta_l=0.05)])
def test_secure_rounds_learn(identity, chosen):  # noqa: F811
    _, result, model = rounds(12, chosen=chosen, secure=True)
    assert accuracy(model) > 0.9 and result.evaluate_metrics_clientapp[12]["accuracy"] > 0.9


def fixed(noise):
    return lambda chosen: strategy.DifferentialPrivacyClientSideFixedClipping(chosen, noise, 1.0, 6)


def adaptive(chosen):
    return strategy.DifferentialPrivacyClientSideAdaptiveClipping(chosen, 0.05, 6, initial_clipping_norm=1.0)


@pytest.mark.parametrize("secure", [False, True])
@pytest.mark.parametrize("mod, wrap", [(fixedclipping_mod, fixed(0.1)), (adaptiveclipping_mod, adaptive),
                                       (LocalDpMod(1.0, 0.02, 1.0, 1e-5), lambda chosen: chosen)])
def test_differential_privacy_in_rounds(identity, mod, wrap, secure):  # noqa: F811
    np.random.seed(7)  # of Flower's noise
    _, result, model = rounds(12, wrap, secure=secure, mods=[mod])
    assert len(result.train_metrics_clientapp) == len(result.evaluate_metrics_clientapp) == 12
    assert accuracy(model) > 0.9


def test_clipping_bounds_a_round(identity):  # noqa: F811
    _, result, _ = rounds(1, fixed(0.0), mods=[fixedclipping_mod])
    norm = np.sqrt(sum(float((array.numpy() ** 2).sum()) for array in result.arrays.values()))
    assert 0.1 < norm <= 1.0 + 1e-5  # from zeros; without the mod it is several


def test_privacy_mods_fail_in_the_single_round(identity):  # noqa: F811
    grid = Grid(topwork.flower.client_app(MODEL, load, mods=[LocalDpMod(1.0, 1.0, 1.0, 1e-5)]), 2)
    with pytest.raises(RuntimeError, match="ArrayRecord"):
        topwork.flower.single_round(grid, MODEL, CLASSES)
