"""What runs on the server: one round of sums (method "single"), or rounds by a strategy ("fedavg", "fedadam")."""
from __future__ import annotations

import logging
import pathlib
from typing import Any

from flwr.serverapp import ServerApp, strategy

import topwork.flower
from topwork_app import examples

app = ServerApp()
STRATEGIES = {"fedavg": lambda config: strategy.FedAvg(),
              "fedadam": lambda config: strategy.FedAdam(eta=float(config["server-learning-rate"]))}


@app.main()
def main(grid: Any, context: Any) -> None:
    config = context.run_config
    model, classes, method = examples.model(context), examples.classes(context), str(config["method"])
    timeout = float(config["timeout"])
    if config["secure"]:
        grid = topwork.flower.SecureGrid(grid)
    if method == "single":
        result = topwork.flower.single_round(grid, model, classes, timeout=timeout, penalty=float(config["penalty"]))
        for node, reason in result.failed.items():
            logging.warning("node %s is left out: %s", node, reason)
        logging.warning("%d examples of %d nodes", result.learner.info["n_examples"], len(result.counts))
        made = result.learner.export()
    elif method in STRATEGIES:
        start = topwork.flower.initial_arrays(model, classes)
        found = STRATEGIES[method](config).start(grid, start, num_rounds=int(config["rounds"]), timeout=timeout)
        made = topwork.flower.model_of(model, classes, found.arrays)
    else:
        raise ValueError(f"method is single, {' or '.join(STRATEGIES)}, not {method!r}")
    path = pathlib.Path(str(config["output"]))
    made.save(path)
    logging.warning("%s is written", path.resolve())
