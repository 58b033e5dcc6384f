"""What notebooks show of a trainer: HTML with plots as SVG, without scripts."""
from __future__ import annotations

import html
from typing import Any, Sequence

_STYLE = "font-family:sans-serif;font-size:13px"


def html_of(trainer: Any) -> str:
    """The parameters that differ from their defaults, and after training its course, the heads tried and confusions."""
    defaults = type(trainer)().get_params()
    given = {name: value for name, value in trainer.get_params().items() if value != defaults[name]}
    parts = [f"<b>{html.escape(type(trainer).__name__)}</b>(" + ", ".join(
        f"{name}={html.escape(_short(value))}" for name, value in given.items()) + ")"]
    if trainer.__sklearn_is_fitted__():
        info = trainer.info
        parts.append(f"{info['n_examples']} examples, {info['n_validation']} held back; {info['n_values']} numbers "
                     f"trained on {html.escape(info['device'])}")
        parts += [_candidates(info["candidates"]), _curve(trainer.history_), _confusion(trainer, info)]
    return f'<div style="{_STYLE}">' + "<br>".join(part for part in parts if part) + "</div>"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _candidates(candidates: Sequence[tuple[str, float, float, float, bool]]) -> str:
    if not candidates:
        return ""
    rows = "".join(
        f"<tr><td>{'<b>' if chosen else ''}{html.escape(name)}{'</b>' if chosen else ''}</td><td>{accuracy:.3f}</td>"
        f"<td>{loss:.3f}</td></tr>" for name, accuracy, loss, _, chosen in candidates)
    return f"<table><tr><th>head tried</th><th>accuracy</th><th>loss</th></tr>{rows}</table>"


def _curve(history: Sequence[dict[str, Any]]) -> str:
    """Losses over the epochs: training blue, validation orange."""
    if len(history) < 2:
        return ""
    lines = []
    most = max(max(epoch["train_loss"], epoch.get("validation_loss", 0.0)) for epoch in history) or 1.0
    for key, colour in (("train_loss", "#1f77b4"), ("validation_loss", "#ff7f0e")):
        points = [f"{5 + 290 * i / (len(history) - 1):.1f},{95 - 90 * epoch[key] / most:.1f}"
                  for i, epoch in enumerate(history) if key in epoch]
        if len(points) > 1:
            lines.append(f'<polyline fill="none" stroke="{colour}" points="{" ".join(points)}"><title>{key}</title></polyline>')
    return f'<svg width="300" height="100" role="img" aria-label="loss, at most {most:.3g}">{"".join(lines)}</svg>'


def _confusion(trainer: Any, info: dict[str, Any]) -> str:
    """A square for each pair of a true class (row) and a predicted one, of the examples held back."""
    if info["n_validation"] == 0 or trainer.loss != "softmax" or len(trainer.classes_) > 50:
        return ""
    counts = trainer.evaluate()["confusion"]
    cells = []
    for i, row in enumerate(counts):
        for j, n in enumerate(row):
            share = n / max(1, sum(row))
            title = html.escape(f"{trainer.classes_[i]} taken for {trainer.classes_[j]}: {n}")
            cells.append(f'<rect x="{12 * j}" y="{12 * i}" width="11" height="11" fill="#1f77b4" '
                         f'fill-opacity="{0.05 + 0.95 * share:.2f}"><title>{title}</title></rect>')
    side = 12 * len(counts)
    return f'<svg width="{side}" height="{side}" role="img" aria-label="confusion matrix">{"".join(cells)}</svg>'
