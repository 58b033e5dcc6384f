"""Precision float16 on the CPU beside float32: time of a run on one thread, packed weights, peak memory.

  python half.py TOPWORK [--rows FILE] [--rounds N]

Both precisions take turns; a time is the fastest run of all rounds. The networks are EfficientNet-Lite0
and those of keras.applications that compare_setup.py makes, once, in build/; without TensorFlow they
are left out, with the reason.
"""
import argparse

import compare_setup
import peers

NETWORKS = ["ResNet-50 f32", "MobileNetV1 f32", "MobileNetV2 f32", "EfficientNet-B0 f32"]
PRECISIONS = ("float32", "float16")
MIB = 2.0 ** 20


def measure(topwork, model, n_rounds):
    """{precision: [milliseconds of each round]}, {precision: the last report}"""
    times, reports = {precision: [] for precision in PRECISIONS}, {}
    for _ in range(n_rounds):
        for precision in PRECISIONS:
            report = topwork("benchmark", model.path, "--device", "cpu", "--threads", "1", "--runs", "20",
                             "--precision", precision)["results"][0]
            times[precision].append(report["latency_ms"]["min"])
            reports[precision] = report
    return times, reports


def rows_of(model, times, reports):
    """A row for each precision and table."""
    tables = {"Fastest run on one thread, ms": {p: min(times[p]) for p in PRECISIONS}}
    for title, key in (("Packed weights, MiB", "packed_bytes"), ("Peak memory of the process, MiB", "rss_peak_bytes")):
        tables[title] = {p: reports[p][key] / MIB for p in PRECISIONS}
    for title, found in tables.items():
        runs = [list(pair) for pair in zip(times["float16"], times["float32"])] if title.endswith("ms") else []
        yield {"table": title, "kind": "float", "model": model.name, "what": "float32",
               "ours": peers.rounded(found["float32"]), "peer": None, "ratio": None, "runs": []}
        yield {"table": title, "kind": "float", "model": model.name, "what": "float16",
               "ours": peers.rounded(found["float16"]), "peer": peers.rounded(found["float32"]),
               "ratio": peers.rounded(found["float32"] / found["float16"]), "runs": peers.rounded(runs)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topwork")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rows")
    arguments = parser.parse_args()
    topwork = peers.Topwork(arguments.topwork)
    lite0 = compare_setup.Model("EfficientNet-Lite0 fp16", "float", peers.ZOO / "efficientnet_lite0_fp16.tflite")
    result = peers.Rows()
    for model in [*compare_setup.keras_models(NETWORKS), lite0]:
        times, reports = measure(topwork, model, arguments.rounds)
        result.rows += rows_of(model, times, reports)
        print(f"{model.name}: float32 {min(times['float32']):.2f} ms, float16 {min(times['float16']):.2f} ms", flush=True)
    titles = list(dict.fromkeys(row["table"] for row in result.rows))
    result.rows.sort(key=lambda row: titles.index(row["table"]))
    result.write(arguments.rows)


if __name__ == "__main__":
    main()
