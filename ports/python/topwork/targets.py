"""Labels and targets of examples: checks that scikit-learn asks for, and scores."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from .pictures import are_pictures, is_picture


def check_examples(trainer: Any, X: Any) -> Any:
    """X as arrays of finite numbers; pictures and tuples of arrays pass as they are."""
    if isinstance(X, tuple) or are_pictures(X):
        return X
    if hasattr(X, "toarray"):
        raise TypeError("sparse data is not supported: pass a dense array, X.toarray()")
    if isinstance(X, list) and any(is_picture(value) for value in X):
        other = next(i for i, value in enumerate(X) if not is_picture(value))
        raise TypeError(f"X holds pictures, but X[{other}] is of type {type(X[other]).__name__}")
    array = np.asarray(X)
    if array.dtype.kind in "US":
        raise TypeError("X holds text, not numbers or pictures: open files first, e.g. [PIL.Image.open(path) for path in X]")
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if array.dtype == object:
        array = array.astype(np.float64)
    if array.ndim < 2:
        raise ValueError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data either using "
                         "array.reshape(-1, 1) if it has one feature or array.reshape(1, -1) if it is one example")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError("X contains NaN or infinity")
    if array.shape[0] == 0 or array.size == 0:
        raise ValueError(f"Found array with {array.shape[0]} sample(s) and {int(np.prod(array.shape[1:]))} feature(s) "
                         f"(shape={array.shape}) while a minimum of 1 is required.")
    wanted = getattr(trainer, "n_features_in_", None)
    found = int(np.prod(array.shape[1:]))
    if wanted is not None and trainer.model is None and found != wanted:
        raise ValueError(f"X has {found} features, but {type(trainer).__name__} is expecting {wanted} features as input")
    return array


def check(trainer: Any, X: Any, y: Any, classes: Any, fitted: Any = None) -> tuple[Any, NDArray[Any], Any]:
    """X, y and the classes: those given, else those of y. `fitted` keeps the number of features of former calls."""
    if fitted is None and hasattr(trainer, "n_features_in_"):
        del trainer.n_features_in_
    X = check_examples(trainer, X)
    if y is None:
        raise ValueError(f"{type(trainer).__name__} requires y to be passed, but the target y is None")
    y = np.asarray(y)
    n = len(X[0] if isinstance(X, tuple) else X)
    if len(y) != n:
        raise ValueError(f"X holds {n} examples, y {len(y)}")
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        raise ValueError("y contains NaN or infinity")
    if n == 1 and fitted is None:
        raise ValueError("training needs more than 1 sample")
    if trainer.loss != "softmax":
        return X, y, _columns(trainer, y, classes)
    if y.ndim == 2 and y.shape[1] == 1:
        import warnings
        warnings.warn(_conversion_warning()("A column-vector y was passed when a 1d array was expected"), stacklevel=3)
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError("y has one label for each example; loss='sigmoid' takes several")
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise ValueError("Unknown label type: continuous. A classifier takes labels; loss='mse' takes numbers")
    found = _unique(y if classes is None else np.asarray(classes))
    if fitted is None and len(found) < 2:
        raise ValueError("all examples are of one class; training needs two at least")
    return X, y, found


def _unique(labels: NDArray[Any]) -> NDArray[Any]:
    try:
        found: NDArray[Any] = np.unique(labels, return_counts=True)[0]  # without counts it imports numpy.ma, for 8 ms
    except TypeError as error:
        kinds = ", ".join(sorted({type(label).__name__ for label in labels.tolist()}))
        raise TypeError(f"labels must be of one type, numbers or text; these are of {kinds}") from error
    return found


def check_groups(groups: Any) -> Optional[NDArray[np.int32]]:
    """Groups as integers from 0 on; −1 is that of an example in none."""
    if groups is None:
        return None
    array = np.asarray(groups)
    if array.dtype.kind not in "iub" or array.ndim != 1:
        raise ValueError("groups is one integer for each example; of names np.unique(names, return_inverse=True)[1] makes such")
    if array.size and not (-1 <= array.min() and array.max() < 2**31):
        raise ValueError(f"groups are 0 to {2**31 - 1}, or -1 for none; these go from {array.min()} to {array.max()}; "
                         "np.unique(groups, return_inverse=True)[1] makes such")
    return np.require(array, np.int32, ["C"])


def _columns(trainer: Any, y: NDArray[Any], classes: Any) -> Optional[NDArray[Any]]:
    if trainer.loss != "sigmoid":
        return None
    if y.ndim != 2:
        raise ValueError("with loss='sigmoid' y is [n, n_classes] of 0 and 1")
    if y.size and not (0 <= y.min() and y.max() <= 1):
        raise ValueError(f"with loss='sigmoid' y is 0, 1 or between; this one goes from {y.min()} to {y.max()}")
    return np.arange(y.shape[1]) if classes is None else np.asarray(classes)


def _conversion_warning() -> Any:
    try:
        from sklearn.exceptions import DataConversionWarning
        return DataConversionWarning
    except ImportError:
        return UserWarning


def positions(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The position of each label in classes."""
    place = {label: i for i, label in enumerate(classes.tolist())}
    try:
        return np.array([place[label] for label in y.tolist()], dtype=np.int64)
    except KeyError as error:
        raise ValueError(f"label {error.args[0]!r} is none of the classes") from None


def score(loss: str, predicted: NDArray[Any], y: Any) -> float:
    """Share of examples that are right in every output, or R2 as the mean over the outputs."""
    y = np.asarray(y)
    if y.shape != predicted.shape:
        raise ValueError(f"y has shape {y.shape}, the predictions {predicted.shape}")
    if loss in ("softmax", "sigmoid"):
        right = predicted == y
        return float(np.mean(right if right.ndim == 1 else right.all(axis=1)))
    wrong = ((y - predicted) ** 2).sum(axis=0)
    spread = ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    return float(np.mean(np.where(spread > 0, 1 - wrong / np.where(spread > 0, spread, 1), 0.0)))
