"""BENCHMARKS.md from figures.json: the one place of every published figure.

  python figures.py render             writes BENCHMARKS.md
  python figures.py list               the names of the measurements, with their commands
  python figures.py run NAME           runs a measurement on this machine, replaces its rows, renders
  python figures.py take NAME FILE     replaces the rows by those of FILE (a script's --rows), renders

figures.json holds a list of measurements. Each has a name, a title, a note, the command that repeats
it, machine, date, what is counted (`unit`), the peer, how both are compared (`ratio`, `points` or
nothing), and rows: model, what, ours, peer, ratio, and the runs (ours, peer) they come from. Rows of
the layout "ratios" name their table and the model's kind as well. A measurement without rows was not
taken yet and is not on the page. A row
may name another machine or date than its measurement. A measurement whose command cannot write its
rows has `by_hand`, and its rows are edited. One that is `simulated` names the simulator instead of the
machine. `plot` names a picture of the rows and the script that draws it. tests/lint/pages.py compares the two files.
"""

import argparse
import datetime
import json
import math
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

import compare_setup

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "peers" / "figures.json"
PAGE = ROOT / "BENCHMARKS.md"

HEAD = """# Benchmarks

Every figure that Topwork publishes is on this page, with the command, the machine and the date that it comes from.
`tests/peers/figures.py` writes the page from `tests/peers/figures.json`; do not edit it by hand.

* *Topwork* and the peer ran in turn on the same machine, in the same run of the command. Times are medians or the fastest
  of several rounds, as the command's script says. Only the ratio carries over to other machines.
* *Ratio* is the peer's time over Topwork's: above 1 Topwork is faster. *Points* are Topwork's per cent less the peer's.
* Paths are those of a clone; `MODEL` and `DIR` stand for files that are not in it. What the scripts compare and which packages
  they need: [tests/peers](tests/peers/README.md).
"""


def load():
    return json.loads(DATA.read_text(encoding="utf-8"))


def save(data):
    """One row a line, so that a new run is a readable change."""
    lines = ["{", f'"machines": {json.dumps(data["machines"], indent=1, ensure_ascii=False)},',
             '"measurements": [']
    for i, measurement in enumerate(data["measurements"]):
        fields = [f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
                  for key, value in measurement.items() if key != "rows"]
        rows = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in measurement["rows"])
        fields.append(f'"rows": [\n  {rows}\n ]')
        lines.append("{" + ",\n ".join(fields) + ("}," if i + 1 < len(data["measurements"]) else "}"))
    DATA.write_text("\n".join([*lines, "]", "}", ""]), encoding="utf-8")


def number(value):
    """As many digits as the figure carries."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if value >= 100000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:.4g}"


def percent(value):
    return "" if value is None else f"{value:.1f}"


def compared(measurement, row):
    if measurement.get("compare") == "points" and None not in (row["ours"], row["peer"]):
        return f"{row['ours'] - row['peer']:+.1f}".replace("-", "−")
    return "" if row.get("ratio") is None else f"{row['ratio']:.3g}"


def table(titles, rows):
    """A Markdown table without the columns in which no row says anything."""
    used = [i for i in range(len(titles)) if any(row[i] for row in rows)]
    lines = ["| " + " | ".join(titles[i] for i in used) + " |", "|" + "---|" * len(used)]
    return "\n".join(lines + ["| " + " | ".join(row[i] for i in used) + " |" for row in rows])


def plain_table(measurement, machines):
    show = percent if measurement["unit"].startswith("%") else number
    rows = [[row["model"], row["what"], show(row["ours"]), show(row["peer"]), compared(measurement, row),
             ", ".join(filter(None, [machines.get(row.get("machine"), row.get("machine")), row.get("date")]))]
            for row in measurement["rows"]]
    unit = measurement["unit"]
    word = "Points" if measurement.get("compare") == "points" else "Ratio"
    return table(["Model", "What", f"Topwork, {unit}", f"{measurement['peer'] or ''}, {unit}", word, "Taken elsewhere"], rows)


def wide_table(measurement):
    """A column for each `what`; rows of one model share the peer's number."""
    show = percent if measurement["unit"].startswith("%") else number
    columns = list(dict.fromkeys(row["what"] for row in measurement["rows"]))
    models = list(dict.fromkeys(row["model"] for row in measurement["rows"]))
    cells = {(row["model"], row["what"]): row for row in measurement["rows"]}
    lines = []
    for model in models:
        found = [cells.get((model, what)) for what in columns]
        peers = [row["peer"] for row in found if row and row["peer"] is not None]
        lines.append([model, *(show(row["ours"]) if row else "" for row in found), show(peers[0]) if peers else ""])
    return table([measurement["unit"], *columns, measurement["peer"] or ""], lines)


def cell(row):
    """Our number and the ratio behind it, or whichever there is."""
    if row is None:
        return ""
    ratio = "" if row["ratio"] is None else f"{row['ratio']:.2f}"
    return f"{number(row['ours'])} ({ratio})" if row["ours"] is not None and ratio else number(row["ours"]) or ratio


def means(rows, columns):
    """Lines of geometric means of the ratios, for each kind of model."""
    kinds = list(dict.fromkeys(row["kind"] for row in rows))
    for kind in kinds:
        found = {what: [row["ratio"] for row in rows if (row["kind"], row["what"]) == (kind, what) and row["ratio"]]
                 for what in columns}
        yield [f"geometric mean, {kind}", *(f"{math.exp(statistics.fmean(map(math.log, ratios))):.2f}" if ratios else ""
                                            for ratios in found.values())]


def ratio_tables(measurement):
    """A table for each `table` of the rows: a column for each `what`, and means at the end."""
    parts = []
    for title in dict.fromkeys(row["table"] for row in measurement["rows"]):
        rows = [row for row in measurement["rows"] if row["table"] == title]
        columns = list(dict.fromkeys(row["what"] for row in rows))
        cells = {(row["model"], row["what"]): row for row in rows}
        lines = [[model, *(cell(cells.get((model, what))) for what in columns)]
                 for model in dict.fromkeys(row["model"] for row in rows)]
        parts.append(f"### {title}\n\n" + table(["Model", *columns], [*lines, *means(rows, columns)]))
    return "\n\n".join(parts)


def render(data):
    parts = [HEAD]
    machines = data["machines"]
    for measurement in data["measurements"]:
        if not measurement["rows"]:
            continue  # not taken yet
        layout = {"wide": wide_table, "ratios": ratio_tables}.get(
            measurement.get("layout"), lambda one: plain_table(one, machines))
        where = machines.get(measurement["machine"], measurement["machine"])
        parts.append(f"## {measurement['title']}\n\n{where}; {measurement['date']}.\n\n"
                     f"    {measurement['command']}\n\n"
                     + picture(measurement) + layout(measurement)
                     + (f"\n\n{measurement['note']}" if measurement["note"] else "") + "\n")
    return "\n".join(parts)


def picture(measurement):
    return f"![{measurement['title']}]({measurement['plot'][0]})\n\n" if "plot" in measurement else ""


def draw(measurement):
    """Draws the rows by the measurement's script, in the environment that has matplotlib."""
    path, script = measurement["plot"]
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder, "rows.json")
        rows.write_text(json.dumps(measurement["rows"]))
        command = [compare_setup.python("peers-plot"), ROOT / script, rows, ROOT / path]
        compare_setup.call(command, script)


def this_machine():
    """The processor as figures.json names it: "family/model", or the name that it gives itself."""
    fields = dict(map(str.strip, line.split(":", 1)) for line in
                  pathlib.Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines() if ":" in line)
    key = f"{fields.get('vendor_id')} {fields.get('cpu family')}/{fields.get('model')}"
    return key if key in load()["machines"] else fields.get("model name", "unknown processor")


def replace_rows(name, rows):
    data = load()
    found = [m for m in data["measurements"] if m["name"] == name]
    if not found:
        sys.exit(f"no measurement is called {name}; see: figures.py list")
    if not rows:
        sys.exit(f"{name}: the command wrote no rows")
    found[0].update(machine=found[0].get("simulated") or this_machine(), date=datetime.date.today().isoformat(), rows=rows)
    if "plot" in found[0]:
        draw(found[0])
    save(data)
    PAGE.write_text(render(data), encoding="utf-8")
    print(f"{name}: {len(rows)} rows; BENCHMARKS.md is written")


def run(name):
    found = [m for m in load()["measurements"] if m["name"] == name]
    if not found:
        sys.exit(f"no measurement is called {name}; see: figures.py list")
    if found[0].get("by_hand"):
        sys.exit(f"{name} is taken by hand: run\n  {found[0]['command']}\nand edit figures.json, then: figures.py render")
    with tempfile.TemporaryDirectory() as folder:
        rows = pathlib.Path(folder, "rows.json")
        environment = dict(os.environ)
        environment.setdefault("TOPWORK_SHARED", str(ROOT.parent / "shared"))
        done = subprocess.run(shlex.split(os.path.expandvars(found[0]["command"])) + ["--rows", str(rows)],
                              cwd=ROOT, env=environment)
        if done.returncode != 0 or not rows.exists():
            sys.exit(f"{name}: the command ended with {done.returncode}; nothing is changed")
        replace_rows(name, json.loads(rows.read_text()))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("verb", choices=("render", "list", "run", "take"))
    parser.add_argument("name", nargs="?")
    parser.add_argument("file", nargs="?")
    arguments = parser.parse_args()
    if arguments.verb == "render":
        PAGE.write_text(render(load()), encoding="utf-8")
    elif arguments.verb == "list":
        for measurement in load()["measurements"]:
            print(f"{measurement['name']:20} {measurement['date']}  {measurement['command']}")
    elif arguments.verb == "run":
        run(arguments.name)
    else:
        replace_rows(arguments.name, json.loads(pathlib.Path(arguments.file).read_text()))


if __name__ == "__main__":
    main()
