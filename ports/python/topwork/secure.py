"""Flower's secure aggregation (SecAgg+) for topwork.flower: the server learns sums over nodes, not what a node has sent.

    app = topwork.flower.rounds_app(model, load, classes, secure=True)      # or client_app: the nodes' ClientApp

    secure = topwork.flower.SecureGrid(grid, reconstruction_threshold=0.5)  # in the ServerApp's main
    result = flwr.serverapp.strategy.FedAvg().start(secure, start, num_rounds=10)
    result = topwork.flower.single_round(secure, model, classes)

Flower's own workflow and mod do the work; they are of its older interface, and what is here lets them carry messages of
the present one. Metrics, numbers of examples among them, are not hidden.

It protects from a curious server that keeps to the protocol. flwr 1.42 draws each mask from a generator with 32 bits of
seed, which somebody determined can try one by one: have the server run by whom the nodes trust with that.
"""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Iterable, Optional, Union

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MessageType, MetricRecord, RecordDict
from flwr.client.mod import secaggplus_mod
from flwr.common import Code, FitIns, FitRes, Parameters, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_CONFIGS
from flwr.compat.common import recorddict_compat
from flwr.server.workflow import SecAggPlusWorkflow
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, MAIN_PARAMS_RECORD, Key
from flwr.server.workflow.secure_aggregation.secaggplus_workflow import WorkflowState
from flwr.serverapp import Grid

_NAMES = "topwork.names"
MOST_EXACT_NODES = 1023  # whose whole numbers below 2^22 have a sum below 2^32


def node_mods(mods: Optional[list[Any]]) -> list[Any]:
    """What a node's application gets: it sends nothing but masked numbers; other mods see them before they are masked."""
    return [_refuse_plain, secaggplus_mod, _as_fit_result, *(mods or [])]


def _refuse_plain(message: Message, context: Any, call_next: Any) -> Any:
    if RECORD_KEY_CONFIGS not in message.content.config_records:
        raise ValueError("this node answers by secure aggregation only: give the strategy or single_round a topwork.flower.SecureGrid")
    return call_next(message, context)


def _as_fit_result(message: Message, context: Any, call_next: Any) -> Any:
    """Puts the reply's one ArrayRecord where secaggplus_mod looks for it. The application does not see SecAgg+'s settings."""
    del message.content[RECORD_KEY_CONFIGS]
    reply = call_next(message, context)
    if reply.has_error():
        raise RuntimeError(str(reply.error.reason))
    (key, arrays), = reply.content.array_records.items()
    metrics, = reply.content.metric_records.values()
    result = FitRes(Status(Code.OK, ""), ndarrays_to_parameters(arrays.to_numpy_ndarrays()), int(metrics["num-examples"]), {})
    reply.content[_NAMES] = ConfigRecord({"record": key, "arrays": list(arrays)})
    for name, record in recorddict_compat.fitres_to_recorddict(result, keep_input=False).items():
        reply.content[name] = record
    return reply


class SecureGrid(Grid):
    """A grid whose replies to messages to train all hold the mean of the nodes' arrays, weighted by their num-examples, so
    that strategies which take the mean work as ever; it takes four messages a node. Other messages pass as they are.

    Parameters
    ----------
    grid : that of the ServerApp.
    num_shares, reconstruction_threshold : shares of each node's key, and how many of them undo its mask; as shares of all
        nodes (float) or numbers. A round fails where fewer nodes than that are left.
    max_weight : the most examples of a node.
    clipping_range, quantization_range : arrays are clipped to +-clipping_range and become so many whole numbers, by chance
        up or down.

    Raises RuntimeError where too few nodes are left. A node that drops out before it has shared its keys makes the others
    begin again; one that does later does not.
    """

    def __init__(self, grid: Any, *, num_shares: Union[int, float] = 1.0, reconstruction_threshold: Union[int, float] = 0.5,
                 max_weight: float = 1000.0, clipping_range: float = 8.0, quantization_range: int = 1 << 22) -> None:
        self._grid = grid
        self._shares: dict[str, Any] = {"num_shares": num_shares, "reconstruction_threshold": reconstruction_threshold}
        self._numbers: dict[str, Any] = {"max_weight": max_weight, "clipping_range": clipping_range, "quantization_range": quantization_range}
        self._workflow(None)

    def exact(self) -> SecureGrid:
        """The same for whole numbers in [-2^21, 2^21), of at most 1023 nodes of weight 1, without rounding."""
        return SecureGrid(self._grid, **self._shares, max_weight=1.0, clipping_range=2.0 ** 21, quantization_range=1 << 22)

    def _workflow(self, timeout: Optional[float]) -> Any:
        return SecAggPlusWorkflow(**self._shares, **self._numbers, timeout=timeout)

    @property
    def run(self) -> Any:
        return self._grid.run

    def set_run(self, run: Any) -> None:
        self._grid.set_run(run)

    def create_message(self, *arguments: Any, **named: Any) -> Message:
        message: Message = self._grid.create_message(*arguments, **named)
        return message

    def get_node_ids(self) -> Iterable[int]:
        nodes: Iterable[int] = self._grid.get_node_ids()
        return nodes

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        raise RuntimeError("secure aggregation takes several messages: use send_and_receive")

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        raise RuntimeError("secure aggregation takes several messages: use send_and_receive")

    def send_and_receive(self, messages: Iterable[Message], *, timeout: Optional[float] = None) -> Iterable[Message]:
        """The replies, with the mean as each one's arrays, and those that are errors. timeout: seconds for each of four steps."""
        asked = {message.metadata.dst_node_id: message for message in messages}
        if not asked or any(message.metadata.message_type != MessageType.TRAIN for message in asked.values()):
            replies: Iterable[Message] = self._grid.send_and_receive(list(asked.values()), timeout=timeout)
            return replies
        errors: dict[int, Message] = {}
        while True:
            n_asked = len(asked)
            attempt = _Attempt(self._grid, asked, self._workflow(timeout))
            done = attempt.run()
            errors.update(attempt.errors)
            if done:
                return [*attempt.replies(), *errors.values()]
            asked = {node: message for node, message in asked.items() if node in attempt.active}
            if len(asked) < 2 or len(asked) == n_asked:
                reasons = {node: str(reply.error.reason) for node, reply in errors.items()}
                raise RuntimeError(f"secure aggregation: {len(asked)} nodes are left, too few to undo the masks; failed: {reasons}")


class _Attempt:
    """One run of Flower's workflow over some nodes; it stands for what the workflow knows of Flower's older interface."""

    def __init__(self, grid: Any, asked: dict[int, Message], workflow: Any) -> None:
        self._grid, self._asked, self._workflow = grid, asked, workflow
        self._state = WorkflowState()
        self._masked: list[Message] = []  # replies of the last step that had any
        self._results: list[tuple[Any, FitRes]] = []
        self.errors: dict[int, Message] = {}

    @property
    def active(self) -> set[int]:
        nodes: set[int] = self._state.active_node_ids
        return nodes

    def run(self) -> bool:
        """False: too few nodes are left, or nodes have dropped out before they had shared their keys."""
        first = next(iter(self._asked.values()))
        state = RecordDict({MAIN_CONFIGS_RECORD: ConfigRecord({Key.CURRENT_ROUND: int(first.metadata.group_id or 0)}),
                            MAIN_PARAMS_RECORD: ArrayRecord()})
        context: Any = SimpleNamespace(state=state, strategy=self, client_manager=self)
        workflow, progress = self._workflow, self._state
        if not workflow.setup_stage(self, context, progress) or len(self.active) < len(self._asked):
            return False
        if not workflow.share_keys_stage(self, context, progress) or len(self.active) < len(self._asked):
            return False
        progress.nid_to_fitins = {node: RecordDict(dict(message.content)) for node, message in self._asked.items()}
        if not workflow.collect_masked_vectors_stage(self, context, progress):
            return False
        masked = [reply for reply in self._masked if not reply.has_error()]
        if not workflow.unmask_stage(self, context, progress):
            return False
        self._masked = masked
        return True

    def replies(self) -> Iterable[Message]:
        """Those that came masked, with the mean in place of their own arrays."""
        mean = parameters_to_ndarrays(self._results[0][1].parameters)
        for reply in self._masked:
            names: Any = reply.content.config_records[_NAMES]
            key, arrays = str(names["record"]), list(names["arrays"])
            sent = self._asked[reply.metadata.src_node_id].content.array_records.get(key)
            kinds = [sent[name].dtype if sent is not None and name in sent else "float64" for name in arrays]
            metrics = {name: record for name, record in reply.content.metric_records.items() if not name.startswith("fitres.")}
            content: dict[str, Union[ArrayRecord, MetricRecord, ConfigRecord]] = {**metrics}
            content[key] = ArrayRecord({name: Array(part.astype(kind)) for name, part, kind in zip(arrays, mean, kinds)})
            reply.content = RecordDict(content)
            yield reply

    # The grid, the strategy and the manager of clients that the workflow calls.

    def send_and_receive(self, messages: Iterable[Message], *, timeout: Optional[float] = None) -> list[Message]:
        self._masked = list(self._grid.send_and_receive(messages, timeout=timeout))
        self.errors.update({reply.metadata.src_node_id: reply for reply in self._masked if reply.has_error()})
        return self._masked

    def configure_fit(self, *_: Any) -> list[tuple[Any, FitIns]]:
        return [(SimpleNamespace(node_id=node), FitIns(Parameters([], "numpy.ndarray"), {})) for node in self._asked]

    def aggregate_fit(self, _: int, results: list[tuple[Any, FitRes]], failures: Any) -> tuple[None, dict[str, Any]]:
        self._results = results
        return None, {}

    def num_available(self) -> int:
        return len(self._asked)
