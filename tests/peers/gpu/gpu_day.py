"""Measures a GPU beside the CPU within a time: see gpu_day.sh, which starts this. Standard library only.

The most telling measurements come first, and the pages are written after each, so that a machine that is taken
away in the middle leaves what was measured until then. What was not reached is listed as such.
"""
import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = pathlib.Path(__file__).resolve().parents[3]
PRECISIONS = ("float32", "float16")
CLASSES = (2, 10, 100)
LIMIT = 150  # seconds of one command: a driver that hangs must not take the day


class Day:
    """What was measured, and the pages of it."""

    def __init__(self, args):
        self.tool, self.out, self.end = args.topwork, pathlib.Path(args.out), time.monotonic() + args.seconds
        self.out.mkdir(parents=True, exist_ok=True)
        self.data = {"date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                     "device": None, "verify": [], "latency": [], "operators": [], "training": [], "failed": [],
                     "not_reached": []}

    def run(self, *arguments):
        """The JSON document of a command, or None: then `failed` has why. Wrong answers are documents, too."""
        command = [self.tool, *map(str, arguments), "--json"]
        try:
            result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
            return json.loads(result.stdout)
        except subprocess.TimeoutExpired:
            why = f"took longer than {LIMIT} s"
        except ValueError:
            why = f"exit code {result.returncode}: {result.stderr.strip()[-500:]}"
        except OSError as error:
            why = str(error)
        self.data["failed"].append({"command": " ".join(arguments_of(command)), "why": why})
        return None

    def reach(self, what, measure):
        """Does it if there is time left, and writes the pages."""
        if time.monotonic() >= self.end:
            self.data["not_reached"].append(what)
        else:
            print(f"{max(0, self.end - time.monotonic()):5.0f} s left: {what}", flush=True)
            measure()
        self.write()

    def write(self):
        for name, text in (("gpu_day.json", json.dumps(self.data, indent=1) + "\n"), ("gpu_day.md", page(self.data))):
            new = self.out / (name + ".new")
            new.write_text(text, encoding="utf-8")
            os.replace(new, self.out / name)


def arguments_of(command):
    """As a person would type it."""
    return ["topwork", *command[1:]]


def name_of(model):
    return pathlib.Path(model).stem


def verify(day, device, model, precision):
    document = day.run("verify", model, "--device", device, "--all-on-device", "--examples", 2, "--precision", precision)
    if document is None:
        return
    worst = max(document["layers"], key=lambda layer: layer.get("difference") or 0, default={})
    day.data["verify"].append({
        "model": name_of(model), "precision": precision, "agrees": document["agrees"],
        "on_device": document["on_device"], "operators": len(document["layers"]),
        "worst": worst.get("op"), "difference": worst.get("difference")})


def latency(day, device, model):
    document = day.run("benchmark", model, "--device", f"cpu,{device}", "--precision", ",".join(PRECISIONS),
                       "--tune", 15000, "--warmup", 5, "--runs", 20, "--min-seconds", 0.5, "--max-seconds", 5)
    for result in document["results"] if document else []:
        day.data["latency"].append({
            "model": name_of(model), "device": result["device"], "precision": result["precision"],
            "p50_ms": result["latency_ms"]["p50"], "min_ms": result["latency_ms"]["min"],
            "plan_ms": result["plan_ms"], "first_run_ms": result["first_run_ms"], "on_device": result["placed"]})


def litert(day, python, model):
    """The same model by LiteRT's GPU backend, as more rows of the latencies."""
    command = [python, "-B", str(HERE / "gpu_litert.py"), str(model)]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT)
        rows = json.loads(result.stdout.splitlines()[-1])
    except (subprocess.TimeoutExpired, ValueError, IndexError, OSError) as error:
        rows = [{"failed": str(error)}]
    for row in rows:
        if "failed" in row:
            day.data["failed"].append({"command": f"LiteRT's GPU backend on {name_of(model)}", "why": row["failed"]})
            continue
        day.data["latency"].append({
            "model": name_of(model), "device": "LiteRT, WebGPU", "precision": row["precision"],
            "p50_ms": row["p50_ms"], "min_ms": row["min_ms"], "plan_ms": 1e3 * row["first_answer_s"],
            "first_run_ms": None, "on_device": "whole" if row["whole"] else "in part"})


def operators(day, device, model, precision):
    document = day.run("benchmark", model, "--device", device, "--all-on-device", "--precision", precision,
                       "--runs", 20, "--max-seconds", 5, "--roofline", "--profile")
    if document is None:
        return
    result = document["results"][0]
    # The step that holds all others on the device has no kernel of its own.
    ops = sorted((op for op in result["ops"] if op.get("p50_ms") and op["op"] != "GPU"), key=lambda op: -op["p50_ms"])
    total = sum(op["p50_ms"] for op in ops)
    bound = sum(op.get("limit_ms") or 0 for op in ops)
    day.data["operators"].append({
        "model": name_of(model), "precision": precision, "launches_ms": total,
        "roofline_share": bound / total if total else None, "limits": document["limits"],
        "ops": [{key: op.get(key) for key in ("op", "variant", "p50_ms", "flops", "bytes", "limit", "limit_share")}
                for op in ops[:12]]})


def training(day, device, model, n_classes):
    document = day.run("benchmark", model, "--device", f"cpu,{device}", "--runs", 1, "--warmup", 0, "--max-seconds", 1,
                       "--train", "--train-classes", n_classes, "--train-examples", max(200, 2 * n_classes))
    for result in document["results"] if document else []:
        train = result["train"]
        if train is None:
            day.data["failed"].append({"command": f"training of {name_of(model)}", "why": result.get("note", "")})
            continue
        day.data["training"].append({
            "model": name_of(model), "device": result["device"], "n_classes": n_classes,
            "steps_per_s": train["steps_per_s"], "features_per_s": train["features_per_s"],
            "fit_ms": train["fit_ms"]["p50"], "optimizer": train["optimizer"],
            "personalise_ms": train["personalise_ms"]["p50"], "trained_on": train["device"]})


def cell(value):
    if isinstance(value, dict):
        return ", ".join(f"{key} {n}" for key, n in value.items())
    if isinstance(value, bool):
        return "yes" if value else "**no**"
    return f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)


def table(rows, *columns):
    if not rows:
        return "Nothing was measured.\n"
    lines = ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]
    lines += ["| " + " | ".join(cell(row.get(column)) for column in columns) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def page(data):
    device = data["device"] or {}
    parts = [f"# {device.get('name', 'No GPU')}\n\n{data['date']}; {device.get('platform', '')}; driver "
             f"{device.get('driver', '')}; {device.get('version', '')}.\n",
             "## Answers beside the CPU's\n\n" + table(data["verify"], "model", "precision", "agrees", "on_device",
                                                       "operators", "worst", "difference"),
             "## Latency\n\n" + table(data["latency"], "model", "device", "precision", "p50_ms", "min_ms", "plan_ms",
                                      "first_run_ms", "on_device")]
    for measured in data["operators"]:
        share = measured["roofline_share"]
        parts.append(f"## Operators of {measured['model']}, {measured['precision']}\n\nAll together "
                     f"{measured['launches_ms']:.4g} ms"
                     + (f", {100 * share:.0f} % of the roofline" if share else "") + ".\n\n"
                     + table(measured["ops"], "op", "variant", "p50_ms", "flops", "bytes", "limit", "limit_share"))
    parts.append("## Training of a new last layer\n\n" + table(
        data["training"], "model", "device", "n_classes", "optimizer", "steps_per_s", "fit_ms", "features_per_s", "personalise_ms",
        "trained_on"))
    for title, rows in (("What failed", [f"`{row['command']}`: {row['why']}" for row in data["failed"]]),
                        ("What was not reached", data["not_reached"])):
        if rows:
            parts.append(f"## {title}\n\n" + "\n".join(f"* {row}" for row in rows) + "\n")
    return "\n".join(parts)


def find_device(day, wanted):
    """The device's entry in `topwork devices`, or a message and None."""
    devices = day.run("devices")
    if devices is None:
        return None, day.data["failed"][-1]["why"]
    for entry in devices:
        fits = entry["id"] == wanted if wanted else entry.get("type") == "gpu"
        if entry["device"] == "opencl" and entry.get("available") and fits:
            return entry, ""
    seen = "; ".join(f"{entry['id']} {entry['name']}" + ("" if entry.get("available") else ": " + entry.get("reason", ""))
                     for entry in devices)
    return None, f"no {'device ' + wanted if wanted else 'OpenCL GPU'} among these: {seen}"


def default_models():
    shared = pathlib.Path(os.environ.get("TOPWORK_SHARED", ROOT.parent / "shared")) / "models"
    zoo = sorted((ROOT / "models" / "zoo").glob("*.tflite"), key=lambda path: -path.stat().st_size)
    more = [path for kind in ("float", "int8") for path in sorted((shared / kind).glob("*.tflite"))]
    return zoo + more


def measure_all(day, device, models, python):
    for model in models:
        day.reach(f"latency of {name_of(model)}", lambda: latency(day, device, model))
        if python:
            day.reach(f"LiteRT's latency of {name_of(model)}", lambda: litert(day, python, model))
        for precision in PRECISIONS:
            day.reach(f"answers of {name_of(model)}, {precision}", lambda: verify(day, device, model, precision))
        if model != models[0]:
            continue
        for precision in PRECISIONS:
            day.reach(f"operators of {name_of(model)}, {precision}", lambda: operators(day, device, model, precision))
        for n_classes in CLASSES:
            day.reach(f"training of {n_classes} classes", lambda: training(day, device, model, n_classes))


def main():
    parser = argparse.ArgumentParser(prog="gpu_day.sh", allow_abbrev=False)
    parser.add_argument("--topwork", default=str(ROOT / "build" / "release" / "topwork"))
    parser.add_argument("--out", default=str(ROOT / "build" / "gpu_day"))
    parser.add_argument("--seconds", type=float, default=540)
    parser.add_argument("--device")
    parser.add_argument("--litert", metavar="PYTHON")
    parser.add_argument("models", nargs="*", metavar="MODEL")
    args = parser.parse_args()
    models = args.models or [str(path) for path in default_models()]
    missing = [path for path in [args.topwork, *models] if not os.path.isfile(path)]
    if missing or args.seconds <= 0:
        parser.error(f"{', '.join(missing)} not found" if missing else "--seconds must be above 0")
    day = Day(args)
    entry, why = find_device(day, args.device)
    if entry is None:
        print(f"gpu_day.sh: {why}", file=sys.stderr)
        return 3
    day.data["device"] = entry
    measure_all(day, entry["id"], models, args.litert)
    wrong = [row for row in day.data["verify"] if not row["agrees"]]
    print(f"{day.out / 'gpu_day.md'}: {len(day.data['verify'])} comparisons, {len(wrong)} wrong; "
          f"{len(day.data['failed'])} commands failed; {len(day.data['not_reached'])} not reached")
    return 1 if wrong or day.data["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
