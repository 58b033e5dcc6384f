"""Federated training in a single round, by Flower: each node sends the sums of its examples' features, and the server's
head equals the one of all examples in one place (as AFL, CVPR 2025, and Fed3R, ICML 2024, do).

    app = topwork.flower.client_app(model, load)                        # the nodes' ClientApp; load(context) -> X, y

    @server.main()                                                      # of a flwr.serverapp.ServerApp
    def main(grid, context):
        result = topwork.flower.single_round(grid, model, classes)
        result.learner.export().save("mine.tflite")

A node that fails or does not answer is left out. The sums tell something of a node's examples: to hide them from the
server, pass Flower's mods for secure aggregation or differential privacy to client_app.
"""
from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, NamedTuple, Optional, Sequence

from flwr.app import ConfigRecord, Message, RecordDict
from flwr.clientapp import ClientApp

from ._core import Model
from .learner import Learner

ACTION = "sums"


class Result(NamedTuple):
    """What a round came to."""
    learner: Learner  # of all nodes that answered
    counts: dict[int, int]  # of examples, by node
    failed: dict[int, str]  # why, by node


def client_app(model: Model, load: Callable[[Any], tuple[Any, Sequence[Any]]], **options: Any) -> ClientApp:
    """A ClientApp whose nodes answer with their sums. load(context) gives a node's examples: X [n, ...] and the names of
    their classes. options: those of topwork.Learner, and `mods`, Flower's modifiers of messages."""
    mods = options.pop("mods", None)
    app = ClientApp(mods=mods)

    def sums(message: Message, context: Any) -> Message:
        X, y = load(context)
        classes = message.content["config"]["classes"]
        learner = Learner(model, classes=[str(name) for name in classes], statistics_only=True, **options)
        learner.add(X, y)
        record = ConfigRecord({"file": _file_of(learner), "num-examples": len(y)})
        return Message(RecordDict({ACTION: record}), reply_to=message)

    app.train(ACTION)(sums)
    return app


def single_round(grid: Any, model: Model, classes: Sequence[str], *, timeout: Optional[float] = 600.0,
                 penalty: float = 0.0) -> Result:
    """Asks every node of the grid for its sums and adds them up. classes: all names, in the order of the outputs.
    timeout: seconds to wait for answers. penalty: ridge penalty of the head. Raises RuntimeError if no node answers."""
    learner = Learner(model, classes=classes, statistics_only=True, penalty=penalty)
    nodes = list(grid.get_node_ids())
    config = RecordDict({"config": ConfigRecord({"classes": list(classes)})})
    messages = [Message(config, dst_node_id=node, message_type=f"train.{ACTION}") for node in nodes]
    counts: dict[int, int] = {}
    failed = {node: "it did not answer in time" for node in nodes}
    for reply in grid.send_and_receive(messages, timeout=timeout):
        node = reply.metadata.src_node_id
        if reply.has_error():
            failed[node] = str(reply.error.reason)
            continue
        record = reply.content[ACTION]
        try:
            _merge(learner, record["file"])
        except Exception as error:  # noqa: BLE001: a bad file is that node's failure
            failed[node] = str(error)
            continue
        counts[node] = int(record["num-examples"])
        del failed[node]
    if not counts:
        raise RuntimeError(f"no node has sent sums: {failed}")
    return Result(learner, counts, failed)


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
