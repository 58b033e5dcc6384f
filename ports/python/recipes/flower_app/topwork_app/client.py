"""What runs on the nodes."""
from __future__ import annotations

from typing import Any

from flwr.app import Message
from flwr.clientapp import ClientApp

import topwork.flower
from topwork_app import examples

app = ClientApp()


def node(context: Any) -> ClientApp:
    config = context.run_config
    secure = bool(config["secure"])
    if config["method"] == "single":
        return topwork.flower.client_app(examples.model(context), examples.load, penalty=float(config["penalty"]), secure=secure)
    return topwork.flower.rounds_app(examples.model(context), examples.load, examples.classes(context), n_threads=1, secure=secure,
                                     n_epochs=int(config["epochs"]), optimizer=str(config["optimizer"]),
                                     learning_rate=float(config["learning-rate"]))


@app.train()
def train(message: Message, context: Any) -> Message:
    return node(context)(message, context)


@app.evaluate()
def evaluate(message: Message, context: Any) -> Message:
    return node(context)(message, context)
