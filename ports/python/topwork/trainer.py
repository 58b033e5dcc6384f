"""Re-trains a model's last layer: an estimator as scikit-learn's are."""
from __future__ import annotations

import inspect
import os
from typing import Any, Callable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, depth, targets
from ._core import Model
from .estimator import BaseEstimator, not_fitted, tags_of
from .flat import dense_model
from .heads import ENDS
from .pictures import source
from .progress import Progress

ModelLike = Union[Model, str, bytes, "os.PathLike[str]", None]


class Trainer(BaseEstimator):
    """Trains a new last layer (head) for a model. The backbone runs once for each example; training works on its
    features alone.

    Parameters
    ----------
    model : a topwork.Model, a path or the bytes of one. None: X holds features already, and a dense layer is trained
        on them alone.
    loss : "softmax" (each example has one class), "sigmoid" (any number of classes: y is [n, n_classes] of 0 and 1),
        "mse" or "huber" (y is [n] or [n, n_outputs] of numbers).
    optimizer : "auto" (tries several heads, takes what does best on examples left out), "sgd", "adam", "adamw",
        "lbfgs", "ridge", "imprint", "knn" (stores examples and compares: for identities of few pictures; the options
        "head.n_neighbours" and "head.max_rows" belong to it). None: "auto", or "adam" where an option of steps is given
        (n_epochs, learning_rate, n_hidden, ...; "auto" takes none and refuses them). info["optimizer"] tells which.
    n_epochs, batch_size, learning_rate (0: chosen), weight_decay : of the steps.
    n_layers : layers with weights that are trained, counted from the last. "auto": as many (4 at most) as get
        clearly more of the examples left out right, or with the optimizer "auto" a random projection or hidden layer in
        front of the last one; only fit takes it, and trains several times for each.
    n_hidden : above 0: a dense layer of so many units with ReLU in front of the last one.
    append : the model's output holds features, and gets a new layer behind it.
    balance : "none", "weights", "repeat" or "smote": what makes all classes count the same.
    validation_fraction : share of each class that is held back to judge the head, in [0, 1).
    reject_rate : share of known examples that the exported model may refuse as unknown; 0: it refuses nothing.
    device, n_threads : where and by how many threads; the same bits for any number of threads.
    cache_path : file that keeps features for the next run; those of n_layers "auto" that are deeper than the last layer lie
        beside it, as cache_path.2 and so on.
    input_scale : (mean, std) by which pixels become inputs; None: as the model's metadata says.
    seed : of splitting and shuffling.
    progress : True for a progress bar (needs tqdm), or a function of a dictionary for each epoch (epoch, n_epochs,
        train_loss, validation_accuracy, ...) that may return False to stop.
    options : other options of the C API's tw_trainer_options by their fields, as {"head.dropout": 0.3}.

    Attributes
    ----------
    classes_ : the labels, in the order of the outputs. Absent for regression.
    history_ : one dictionary for each epoch.
    n_features_in_ : numbers of an example.
    n_layers_ : the layers that are trained.
    n_projected_, n_hidden_ : units of a random projection and of a hidden layer in front of the last one; 0: none.
    depths_ : of "auto", a dictionary for each that was tried: n_layers, n_projected, n_hidden, accuracy (softmax:
        of examples left out), loss of the examples held back, or why it was skipped. Else empty.

    Ctrl-C ends what is going on. Raises topwork.Error and its subclasses with the library's sentence.
    """

    def __init__(self, model: ModelLike = None, *, loss: str = "softmax", optimizer: Optional[str] = None, n_epochs: int = 20,
                 batch_size: int = 32, learning_rate: float = 0.0, weight_decay: float = 0.0,
                 n_layers: Union[int, str] = 1,
                 n_hidden: int = 0, append: bool = False, balance: str = "none", validation_fraction: float = 0.2,
                 reject_rate: float = 0.0, device: Optional[str] = None, n_threads: int = 0,
                 cache_path: Optional[str | os.PathLike[str]] = None,
                 input_scale: Optional[tuple[Sequence[float], Sequence[float]]] = None, seed: int = 1,
                 progress: Union[bool, Callable[[dict[str, Any]], Any]] = False,
                 options: Optional[dict[str, Any]] = None) -> None:
        self.model = model
        self.loss = loss
        self.optimizer = optimizer
        self.n_epochs = n_epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.n_layers = n_layers
        self.n_hidden = n_hidden
        self.append = append
        self.balance = balance
        self.validation_fraction = validation_fraction
        self.reject_rate = reject_rate
        self.device = device
        self.n_threads = n_threads
        self.cache_path = cache_path
        self.input_scale = input_scale
        self.seed = seed
        self.progress = progress
        self.options = options

    # What scikit-learn asks for.

    def fit(self, X: Any, y: Any, groups: Any = None) -> Trainer:
        """Trains on examples from the start.

        X : [n, ...] as the model's input without its batch, n pictures of PIL, or [n, numbers of an example]. For
            models of several inputs a tuple of such arrays. Pictures may come in a sequence of the caller's (with
            __len__ and __getitem__) that opens each one as it is read: memory then holds one at a time.
        y : [n] labels (numbers or strings), or targets as `loss` says.
        groups : [n] integers from 0 on, or None. Examples of one group (a camera, a burst) are split together.
        """
        X, y, found = targets.check(self, X, y, None)
        with depth.caches(self) as kept:
            self._start(X, y, found, groups, kept)
            self._add(X, y, groups)
            del X  # the trainer has what it needs: examples that the caller does not keep are no longer in memory
        self._train(0)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, groups: Any = None) -> Trainer:
        """Adds examples to those of former calls and trains further. `classes` names all labels in the first call, as
        in scikit-learn; labels that come up later are added as new classes ("softmax")."""
        if not hasattr(self, "_core"):
            if self.n_layers == "auto":
                raise ValueError('n_layers "auto" needs all examples at once: call fit')
            X, y, found = targets.check(self, X, y, classes)
            self._start(X, y, found)
        else:
            X, y, found = targets.check(self, X, y, classes, self)
            self._grow(found)
        self._add(X, y, groups)
        info = self._core.info()
        self._train(info["n_epochs_done"] + self.n_epochs if info["n_epochs_done"] else 0)
        return self

    @property
    def predict_proba(self) -> Callable[[Any], NDArray[np.float32]]:
        """predict_proba(X): [n, n_classes] probabilities, as the exported model gives them ("softmax" and "sigmoid";
        with another loss the method is absent)."""
        if self.loss not in ENDS:
            raise AttributeError(f"a trainer of loss {self.loss!r} predicts no probabilities")
        return self._scores

    def predict(self, X: Any) -> NDArray[Any]:
        """[n] labels; [n, n_classes] of 0 and 1 with "sigmoid"; numbers as y was with "mse" and "huber"."""
        scores = self._scores(X)
        if self.loss == "softmax":
            labels: NDArray[Any] = self.classes_[scores.argmax(axis=1)]
            return labels
        if self.loss == "sigmoid":
            return (scores > 0.5).astype(np.int64)
        numbers = scores.astype(np.float64)
        return numbers[:, 0] if self._is_flat else numbers

    def score(self, X: Any, y: Any) -> float:
        """Accuracy ("softmax"), share of examples with every decision right ("sigmoid"), or R2."""
        return targets.score(self.loss, self.predict(X), y)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_core")

    def __sklearn_tags__(self) -> Any:
        return tags_of(self.loss)

    # Beyond it.

    def evaluate(self, X: Any = None, y: Any = None, n_worst: int = 10) -> dict[str, Any]:
        """Judges the head on these examples, or on those held back: accuracy, loss, confusion, classes, worst (index,
        label, predicted, loss) and more. Raises FailedPreconditionError where nothing was held back."""
        core = self._fitted()
        if X is None:
            return core.evaluate(None, None, None, n_worst)
        X, y, _ = targets.check(self, X, y, None, self)
        labels, numbers = self._encoded(y)
        return core.evaluate(self._arrays(X), labels, numbers, n_worst)

    def audit(self, n_neighbours: int = 5) -> dict[str, Any]:
        """Judges the labels of all examples ("softmax"), each by a head fitted without it and its group:

        examples : one dictionary for each, the least probable label first: index (in the order of fit and partial_fit), label,
            suggested (label), margin (below 0: the label may be wrong), probability (that it is right), value (below 0:
            it misleads its n_neighbours), is_suspect.
        n_suspects, noise : how many are probably wrong; the share of wrong labels, estimated.
        near_duplicates : of held-back and trained examples, which make evaluate() too good: n_checked, n_found and the
            pair that is most alike (held_back, trained, cosine); None where nothing was held back.
        """
        judged = self._fitted().audit(n_neighbours)
        for example in judged["examples"]:
            for key in ("label", "suggested"):
                example[key] = self.classes_[example[key]]
        return judged

    def calibrate(self) -> dict[str, float]:
        """Chooses the temperature that makes confidences right on the examples held back: temperature, loss_before,
        loss_after, error_before, error_after."""
        return self._fitted().calibrate()

    def export(self) -> Model:
        """The model with the new head and the class names: a standard .tflite."""
        return self._fitted().export()

    def save_head(self, path: str | os.PathLike[str]) -> None:
        """Writes the head alone, for Session.attach_head: many heads go with one model."""
        self._fitted().save_head(os.fspath(path))

    @property
    def info(self) -> dict[str, Any]:
        """What the trainer has and holds: n_examples, n_validation, optimizer, learning_rate, device, memory_bytes, parameters
        (name, shape), candidates (name, accuracy, loss, seconds, is_chosen) and more."""
        return self._fitted().info()

    def get_parameters(self) -> dict[str, NDArray[np.float32]]:
        """The arrays that are trained: "head/weights", "head/bias"."""
        arrays = {name: np.empty(shape, np.float32) for name, shape in self.info["parameters"]}
        for name, array in arrays.items():
            self._fitted().read(name, array)
        return arrays

    def set_parameters(self, arrays: dict[str, NDArray[np.float32]]) -> None:
        """Sets some of these arrays. Raises NotFoundError, or NumericError for a value that is not finite."""
        for name, array in arrays.items():
            self._fitted().write(name, np.require(array, np.float32, ["C"]))

    def cancel(self) -> None:
        """Makes the call in progress raise CancelledError; may be called from any thread."""
        if hasattr(self, "_core"):
            self._core.cancel()

    # How it is done.

    def _choose_depth(self, X: Any, y: Any, groups: Any, kept: depth.Caches) -> None:
        self.depths_: list[dict[str, Any]] = []
        given = (self.options or {}).get("head.n_projected", 0)
        shape = depth.Shape(n_projected=given, n_hidden=self.n_hidden)
        if self.n_layers == "auto":
            chosen, self.depths_ = depth.choose(self, X, y, groups, kept)
            shape = depth.Shape(chosen.n_layers, chosen.n_projected or given, chosen.n_hidden or self.n_hidden)
        elif isinstance(self.n_layers, str):
            raise ValueError(f'n_layers is {self.n_layers!r}: give a number or "auto"')
        else:
            shape = shape._replace(n_layers=self.n_layers)
        self.n_layers_, self.n_projected_, self.n_hidden_ = shape

    def _start(self, X: Any, y: Any, classes: Optional[NDArray[Any]], groups: Any = None,
               kept: Optional[depth.Caches] = None) -> None:
        kept = kept or depth.Caches(self.cache_path)
        self._choose_depth(X, y, groups, kept)
        self._is_flat = y.ndim == 1
        n_outputs = y.shape[1] if y.ndim == 2 else 1 if classes is None else len(classes)
        if classes is not None:
            self.classes_ = classes
        model = self._opened(X, n_outputs)
        self._scale = self.input_scale or model.input_scale
        names = [] if classes is None else [str(name) for name in classes]
        options = self._options(n_outputs, kept)
        core = _core.Trainer.create(model, options, names)
        if self.optimizer == options["optimizer.kind"] == "auto" != core.info()["optimizer"]:
            raise ValueError(f'optimizer "auto" takes no steps, which {self._given_steps()} asks for: leave optimizer out, '
                             f'or name {core.info()["optimizer"]!r}')
        self._core = core
        self._infos = [self._core.input(i) for i in range(self._core.info()["n_inputs"])]
        if not isinstance(X, tuple):
            self.n_features_in_ = int(np.prod(X.shape[1:] if isinstance(X, np.ndarray) else self._infos[0].shape))
        self.history_: list[dict[str, Any]] = []

    def _opened(self, X: Any, n_outputs: int) -> Model:
        if self.model is None:
            return Model.from_bytes(dense_model(X.shape[1], n_outputs, ENDS.get(self.loss)))
        if isinstance(self.model, Model):
            return self.model
        return Model.from_bytes(self.model) if isinstance(self.model, bytes) else Model.open(self.model)

    def _options(self, n_outputs: int, kept: depth.Caches) -> dict[str, Any]:
        shape = depth.Shape(self.n_layers_, self.n_projected_, self.n_hidden_)
        optimizer = shape.optimizer(self.optimizer) if self.n_layers == "auto" else self.optimizer
        options: dict[str, Any] = {
            "n_classes": n_outputs, "n_epochs": self.n_epochs, "batch_size": self.batch_size, "seed": self.seed,
            "loss.kind": self.loss, "loss.balance_classes": self.balance, "optimizer.kind": optimizer or "auto",
            "optimizer.learning_rate": self.learning_rate, "optimizer.weight_decay": self.weight_decay,
            "head.n_layers": self.n_layers_, "head.n_hidden": self.n_hidden_, "head.append": int(self.append),
            "head.n_projected": self.n_projected_,
            "validation_fraction": self.validation_fraction, "reject_rate": self.reject_rate,
            "n_threads": self.n_threads}
        cache_path = kept.of(self.n_layers_)
        for name, value in (("device", self.device), ("features.cache_path", cache_path)):
            if value is not None:
                options[name] = value
        if self.input_scale is not None:
            options["input_scale.mean"] = [float(value) for value in self.input_scale[0]]
            options["input_scale.std"] = [float(value) for value in self.input_scale[1]]
        options.update(self.options or {})
        return options

    def _given_steps(self) -> str:
        """The first parameter that only optimizers which take steps have, as it was given."""
        parameters = inspect.signature(type(self)).parameters
        for name in ("n_epochs", "batch_size", "learning_rate", "weight_decay", "n_layers", "n_hidden", "options", "balance"):
            if getattr(self, name) not in (parameters[name].default, {}, "weights"):
                return f"{name}={getattr(self, name)!r}"
        return f"device={self.device!r}"

    def _grow(self, classes: Optional[NDArray[Any]]) -> None:
        """Adds classes that the trainer does not have yet."""
        if classes is None or self.loss != "softmax":
            return
        new = [name for name in classes if name not in self.classes_]
        if new:
            grown = np.append(self.classes_, np.asarray(new, dtype=classes.dtype))
            self._core.set_classes([str(name) for name in grown])
            self.classes_ = grown

    def _encoded(self, y: NDArray[Any]) -> tuple[Optional[NDArray[np.int64]], Optional[NDArray[np.float32]]]:
        if self.loss == "softmax":
            return targets.positions(y, self.classes_), None
        return None, np.require(y.reshape(len(y), -1), np.float32, ["C"])

    def _arrays(self, X: Any) -> list[Any]:
        parts = X if isinstance(X, tuple) else (X,)
        if len(parts) != len(self._infos):
            raise ValueError(f"the model has {len(self._infos)} inputs: X must be a tuple of as many arrays")
        return [source(part, info, self._scale) for part, info in zip(parts, self._infos)]

    def _add(self, X: Any, y: NDArray[Any], groups: Any) -> None:
        labels, numbers = self._encoded(y)
        with Progress(self.progress, "features") as progress:
            self._core.add(self._arrays(X), labels, numbers,
                           targets.check_groups(groups), progress.of_examples)

    def _train(self, n_epochs: int) -> None:
        with Progress(self.progress, "training") as progress:
            def on_epoch(epoch: dict[str, Any]) -> Any:
                self.history_.append(epoch)
                return progress.of_epoch(epoch)

            self._core.fit(n_epochs, 0, 0.0, on_epoch)

    def _fitted(self) -> _core.Trainer:
        if not hasattr(self, "_core"):
            raise not_fitted(f"This {type(self).__name__} instance is not fitted yet: call fit first")
        return self._core

    def _scores(self, X: Any) -> NDArray[np.float32]:
        core = self._fitted()
        arrays = self._arrays(targets.check_examples(self, X))
        scores = np.empty((len(arrays[0]), core.info()["n_classes"]), np.float32)
        if len(scores):
            core.predict(arrays, scores)
        return scores

    def _repr_html_(self) -> str:
        """What notebooks show: the parameters, and after training its course, the heads tried and the confusions."""
        from .report import html_of  # notebooks alone need it

        return html_of(self)

    def __getstate__(self) -> dict[str, Any]:
        state = dict(self.__dict__)
        if "_core" in state:
            state["_core"] = (bytes(self.export()), self._core.info()["n_classes"])
            del state["_infos"]
        if not isinstance(self.progress, bool):
            state["progress"] = False
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_core" in state:
            # The exported model's own head goes on; examples stay behind.
            data, n_outputs = state["_core"]
            model = Model.from_bytes(data)
            names = [str(name) for name in getattr(self, "classes_", [])]
            options = {"n_classes": n_outputs, "loss.kind": self.loss, "head.init": "shipped", "optimizer.kind": "adam", "seed": self.seed}
            self._core = _core.Trainer.create(model, options, names)
            self._infos = [self._core.input(i) for i in range(self._core.info()["n_inputs"])]
