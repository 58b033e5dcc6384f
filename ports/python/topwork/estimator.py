"""What scikit-learn asks of an estimator, without importing it: that takes longer, and more memory, than many a training."""
from __future__ import annotations

import inspect
import sys
from typing import Any


class BaseEstimator:
    """get_params and set_params, as scikit-learn has them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the constructor, by name. Nothing lies deeper."""
        del deep
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> Any:
        """Sets parameters of the constructor by name; returns the estimator."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"there is no parameter {name!r}; there are: {', '.join(known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        """The parameters that differ from their defaults."""
        parameters = inspect.signature(type(self)).parameters
        given = {name: value for name, value in self.get_params().items() if not _is_same(value, parameters[name].default)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))


class _NotFittedError(ValueError, AttributeError):
    """The estimator was not fitted yet."""


_NotFittedError.__name__ = "NotFittedError"


def not_fitted(text: str) -> Exception:
    """The exception of an estimator that was not fitted: scikit-learn's own where the program has imported it."""
    exceptions = sys.modules.get("sklearn.exceptions")
    made: Exception = (_NotFittedError if exceptions is None else exceptions.NotFittedError)(text)
    return made


def tags_of(loss: str) -> Any:
    """scikit-learn's tags of a trainer: what it learns follows from its loss."""
    from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

    is_classifier = loss in ("softmax", "sigmoid")
    return Tags(
        estimator_type="classifier" if is_classifier else "regressor",
        target_tags=TargetTags(required=True, multi_output=not is_classifier),
        classifier_tags=ClassifierTags(multi_label=loss == "sigmoid", multi_class=loss == "softmax") if is_classifier else None,
        regressor_tags=None if is_classifier else RegressorTags(),
        input_tags=InputTags(two_d_array=True, three_d_array=True))
