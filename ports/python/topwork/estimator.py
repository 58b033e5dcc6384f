"""What scikit-learn asks of an estimator. Its base classes where it is installed, else the two methods that programs
without it use."""
from __future__ import annotations

import inspect
from typing import Any

try:
    from sklearn.base import BaseEstimator
    from sklearn.exceptions import NotFittedError
except ImportError:

    class NotFittedError(ValueError, AttributeError):  # type: ignore[no-redef]
        """The estimator was not fitted yet."""

    class BaseEstimator:  # type: ignore[no-redef]
        """get_params and set_params, as scikit-learn has them."""

        def get_params(self, deep: bool = True) -> dict[str, Any]:
            del deep
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params: Any) -> Any:
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(f"there is no parameter {name!r}; there are: {', '.join(known)}")
                setattr(self, name, value)
            return self


__all__ = ["BaseEstimator", "NotFittedError", "tags_of"]


def tags_of(tags: Any, loss: str) -> Any:
    """scikit-learn's tags of a trainer: what it learns follows from its loss."""
    from sklearn.utils import ClassifierTags, RegressorTags
    tags.target_tags.required = True
    tags.input_tags.two_d_array = tags.input_tags.three_d_array = True
    if loss in ("softmax", "sigmoid"):
        tags.estimator_type = "classifier"
        tags.classifier_tags = ClassifierTags(multi_label=loss == "sigmoid", multi_class=loss == "softmax")
    else:
        tags.estimator_type = "regressor"
        tags.regressor_tags = RegressorTags()
        tags.target_tags.multi_output = True
    return tags
