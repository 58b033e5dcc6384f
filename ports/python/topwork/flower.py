"""Federated training on Flower: the nodes' examples stay where they are.

In a single round each node sends the sums of its examples' features, and the server's head equals the one of all
examples in one place (as AFL, CVPR 2025, and Fed3R, ICML 2024, do).

    app = topwork.flower.client_app(model, load)                        # the nodes' ClientApp; load(context) -> X, y

    @server.main()                                                      # of a flwr.serverapp.ServerApp
    def main(grid, context):
        result = topwork.flower.single_round(grid, model, classes)
        result.learner.export().save("mine.tflite")

In many rounds each node trains the head a little and sends its numbers, which any of Flower's strategies combines:

    app = topwork.flower.rounds_app(model, load, classes, n_epochs=2, learning_rate=0.01)

        start = topwork.flower.initial_arrays(model, classes)           # in the ServerApp's main
        result = flwr.serverapp.strategy.FedAvg().start(grid, start, num_rounds=10)
        topwork.flower.model_of(model, classes, result.arrays).save("mine.tflite")

A node that fails or does not answer is left out. What nodes send tells something of their examples. With secure=True and
a SecureGrid (topwork.secure) the server learns nothing but sums over nodes, and the single round stays exact. In rounds Flower's
mods for differential privacy (fixedclipping_mod, adaptiveclipping_mod, LocalDpMod) work as in any application, alone or with secure
aggregation: rounds_app(..., mods=[fixedclipping_mod]). They have no use in the single round, and fail there: it has no
start that a node's share could be clipped to, and noise on all products of features leaves nothing of them.
"""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, NamedTuple, Optional, Sequence

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

from . import sums, targets
from ._core import Model
from .arrays import numpy_dtype
from .learner import Learner
from .secure import MOST_EXACT_NODES, SecureGrid, node_mods
from .trainer import Trainer

SUMS = "sums"


class Result(NamedTuple):
    """What a round came to."""
    learner: Learner  # of all nodes that answered
    counts: dict[int, int]  # of examples, by node; -1: hidden by secure aggregation
    failed: dict[int, str]  # why, by node


def client_app(model: Model, load: Callable[[Any], tuple[Any, Sequence[Any]]], **options: Any) -> ClientApp:
    """A ClientApp whose nodes answer with their sums. load(context) gives a node's examples: X [n, ...] and the names of
    their classes. options: those of topwork.Learner; `secure`, True: it answers to a SecureGrid alone; and `mods`, Flower's
    modifiers of messages to train."""
    secure, mods = options.pop("secure", False), options.pop("mods", None)
    app = ClientApp()

    def train(message: Message, context: Any) -> Message:
        X, y = load(context)
        classes: Any = message.content.config_records["config"]["classes"]
        learner = Learner(model, classes=[str(name) for name in classes], statistics_only=True, **options)
        learner.add(X, y)
        if secure:
            parts = sums.digits(sums.of_file(_file_of(learner)))
            arrays = ArrayRecord({name: Array(part) for name, part in zip(sums.Sums._fields, parts)})
            return Message(RecordDict({SUMS: arrays, "metrics": MetricRecord({"num-examples": 1})}), reply_to=message)
        record = ConfigRecord({"file": _file_of(learner), "num-examples": len(y)})
        return Message(RecordDict({SUMS: record}), reply_to=message)

    app.train(mods=node_mods(mods) if secure else mods)(train)
    return app


def single_round(grid: Any, model: Model, classes: Sequence[str], *, timeout: Optional[float] = 600.0,
                 penalty: float = 0.0) -> Result:
    """Asks every node of the grid for its sums and adds them up. grid: that of the ServerApp, or a SecureGrid of it, by which
    the server learns the sum over all nodes alone. classes: all names, in the order of the outputs. timeout: seconds to
    wait for answers. penalty: ridge penalty of the head. Raises RuntimeError if no node answers."""
    nodes = list(grid.get_node_ids())
    is_secure = isinstance(grid, SecureGrid)
    if is_secure and len(nodes) > MOST_EXACT_NODES:
        raise ValueError(f"secure aggregation adds up to {MOST_EXACT_NODES} nodes exactly, not {len(nodes)}")
    config = RecordDict({"config": ConfigRecord({"classes": list(classes)})})
    messages = [Message(config, dst_node_id=node, message_type=MessageType.TRAIN) for node in nodes]
    learner = Learner(model, classes=classes, statistics_only=True, penalty=penalty)
    counts: dict[int, int] = {}
    failed = {node: "it did not answer in time" for node in nodes}
    replies = list((grid.exact() if is_secure else grid).send_and_receive(messages, timeout=timeout))
    for reply in replies:
        node = reply.metadata.src_node_id
        try:
            counts[node] = -1 if is_secure and not reply.has_error() else _take(learner, reply)
            del failed[node]
        except Exception as error:  # noqa: BLE001: a bad file is that node's failure
            failed[node] = str(error)
    if not counts:
        raise RuntimeError(f"no node has sent sums: {failed}")
    if is_secure:
        _take_mean(learner, next(reply for reply in replies if not reply.has_error()), len(counts))
    return Result(learner, counts, failed)


def _take(learner: Learner, reply: Message) -> int:
    """Adds what a node has sent. Returns its number of examples."""
    if reply.has_error():
        raise RuntimeError(str(reply.error.reason))
    record: Any = reply.content.config_records.get(SUMS)
    if record is None:
        raise ValueError("it has sent no sums: it must run client_app")
    _merge(learner, record["file"])
    return int(record["num-examples"])


def _take_mean(learner: Learner, reply: Message, n_nodes: int) -> None:
    """Adds the sum over nodes, n_nodes times the mean that a SecureGrid gives."""
    arrays = reply.content.array_records[SUMS]
    parts = [np.rint(arrays[name].numpy() * n_nodes).astype(np.int64) for name in sums.Sums._fields]
    one = Learner(learner.model, classes=learner.classes, statistics_only=True)
    one.add(tuple(np.zeros((1, *info.shape[1:]), numpy_dtype(info.dtype)) for info in learner.model.inputs), learner.classes[:1])
    _merge(learner, sums.to_file(sums.of_digits(parts, len(learner.classes)), _file_of(one)))


def rounds_app(model: Model, load: Callable[[Any], tuple[Any, Sequence[Any]]], classes: Sequence[str],
               **options: Any) -> ClientApp:
    """A ClientApp for Flower's strategies. load(context) gives a node's examples: X [n, ...] and the names of their
    classes, two or more of `classes` (a node with one class fails: single_round takes those). A node trains from the
    numbers that it is sent, on all its examples, and answers with the new ones and metrics num-examples and train-loss;
    asked to evaluate, with num-examples, accuracy and loss.
    options: those of topwork.Trainer, such as n_epochs (of a round), learning_rate, optimizer ("adam", default, or
    "sgd", "adamw"; nodes that know few of the classes need "sgd") and cache_path, where a node keeps its features from round
    to round; `secure` and `mods`, as in client_app."""
    secure, mods = options.pop("secure", False), options.pop("mods", None)
    app = ClientApp()

    def given(message: Message, context: Any) -> tuple[Trainer, Any, Any]:
        trainer = _head(model, classes, options)
        X, y = load(context)
        trainer.set_parameters({name: array.numpy() for name, array in message.content.array_records["arrays"].items()})
        return trainer, targets.check_examples(trainer, X), np.asarray([str(name) for name in y])

    def train(message: Message, context: Any) -> Message:
        trainer, X, y = given(message, context)
        trainer._add(X, y, None)
        trainer._train(trainer.n_epochs)
        metrics = MetricRecord({"num-examples": len(y), "train-loss": float(trainer.history_[-1]["train_loss"])})
        return Message(RecordDict({"arrays": _arrays_of(trainer), "metrics": metrics}), reply_to=message)

    def evaluate(message: Message, context: Any) -> Message:
        trainer, X, y = given(message, context)
        judged = trainer.evaluate(X, y, n_worst=0)
        metrics = MetricRecord({"num-examples": len(y), "accuracy": float(judged["accuracy"]), "loss": float(judged["loss"])})
        return Message(RecordDict({"metrics": metrics}), reply_to=message)

    app.train(mods=node_mods(mods) if secure else mods)(train)
    app.evaluate()(evaluate)
    return app


def initial_arrays(model: Model, classes: Sequence[str], **options: Any) -> ArrayRecord:
    """The head's numbers to begin with, for a strategy's start: zeros. options: those that change the head's shape, as
    the nodes' rounds_app has them (n_hidden, append)."""
    return _arrays_of(_head(model, classes, options))


def model_of(model: Model, classes: Sequence[str], arrays: ArrayRecord, **options: Any) -> Model:
    """The model with these numbers as its head, as Result.arrays of a strategy holds them: a standard .tflite."""
    trainer = _head(model, classes, options)
    trainer.set_parameters({name: array.numpy() for name, array in arrays.items()})
    return trainer.export()


def _head(model: Model, classes: Sequence[str], options: dict[str, Any]) -> Trainer:
    """A trainer without examples. It holds back none, and does not choose its head: all nodes' are alike."""
    trainer = Trainer(model, **{"optimizer": "adam", "validation_fraction": 0.0, "n_epochs": 1, **options})
    if trainer.optimizer not in ("adam", "adamw", "sgd") or trainer.loss != "softmax":
        raise ValueError("rounds need optimizer 'adam', 'adamw' or 'sgd', which go on from given numbers, and loss 'softmax'")
    if trainer.n_layers == "auto":
        raise ValueError('rounds need one number of layers at all nodes, not n_layers "auto": give a number')
    trainer._start((), np.empty(0), np.asarray([str(name) for name in classes]))
    return trainer


def _arrays_of(trainer: Trainer) -> ArrayRecord:
    return ArrayRecord({name: Array(array) for name, array in trainer.get_parameters().items()})


def _file_of(learner: Learner) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sums")
        learner.save(path, statistics_only=True)
        with open(path, "rb") as file:
            return file.read()


def _merge(learner: Learner, data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "sums")
        with open(path, "wb") as file:
            file.write(data)
        learner.merge(path)
