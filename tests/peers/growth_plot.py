"""The plot of growth.py's rows: a panel for each of the five sizes, both axes logarithmic.

  python growth_plot.py ROWS.json OUT.svg

A dashed line is what multiply-adds (or threads) predict from the smallest setting on. Needs matplotlib;
figures.py calls it in an environment of its own.
"""
import json
import sys

import matplotlib
from matplotlib import pyplot, ticker

STORAGES = {"float32": "tab:blue", "int8": "tab:orange"}


def series(rows):
    """{axis: {storage: ([value], [ms], [predicted ms])}}"""
    found = {}
    for row in rows:
        axis, value = row["what"].rsplit(" ", 1)
        values, times, predicted = found.setdefault(axis, {}).setdefault(row["model"], ([], [], []))
        ratio = row["ratio"]
        growth = ratio * row["ours"] / times[-1] if ratio else 1.0
        predicted.append(predicted[-1] * growth if predicted else row["ours"])
        values.append(int(value))
        times.append(row["ours"])
    return found


def main(rows, path):
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "growth", "font.size": 9})
    found = series(json.load(open(rows, encoding="utf-8")))
    figure, panels = pyplot.subplots(1, len(found), figsize=(3 * len(found), 3), sharey=True, layout="constrained")
    for panel, (axis, storages) in zip(panels, found.items()):
        for storage, (values, times, predicted) in storages.items():
            panel.loglog(values, times, "o-", color=STORAGES[storage], label=storage)
            panel.loglog(values, predicted, "--", color=STORAGES[storage], label=f"{storage}, predicted")
        panel.set_xlabel(axis)
        panel.set_xticks(values, [str(value) for value in values])
        panel.xaxis.set_minor_locator(ticker.NullLocator())
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("ms")
    panels[0].legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
