"""Runs that come every now and then, as of a camera's pictures, beside LiteRT: the median and the slow ones.

  python3 paced.py BUILD [--every MS] [--models WORD,...] [--rounds N] [--turn MS] [--rows FILE]

BUILD is a release build. Between two runs the threads sleep, and the system decides anew where they run. Both
engines take turns, as in compare.py, which makes the models and installs LiteRT.
"""
import argparse
import pathlib
import statistics
import sys

import compare_setup
import compare_sides
import peers

NETWORKS = "MobileNetV2 int8,MobileNetV1 f32,EfficientNet-Lite0 int8,EfficientNet-B0 f32,EfficientNet-B0 dynamic"
THREADS = (1, 2)


def slow(times):
    """What one run in twenty exceeds."""
    return sorted(times)[len(times) * 19 // 20]


TABLES = {"Median, ms": statistics.median, "One run in twenty takes longer, ms": slow}


def sides_of(build, model, threads):
    """A process of each engine with the model open."""
    library = build / "libtopwork.so"
    sides = [compare_sides.Side("topwork", sys.executable, library),
             compare_sides.Side("litert", compare_setup.python("peers-venv"))]
    for side in sides:
        side.wait()
        side.ask("open", model=str(model.path), threads=threads, batch=1)
        side.stop()
    return sides


def measure(options, model, threads):
    """[Topwork's times, LiteRT's] of all rounds, each a list of ms."""
    sides = sides_of(options.build, model, threads)
    try:
        times = compare_sides.take_turns(sides, options.rounds, options.turn, every=options.every)
    finally:
        for side in sides:
            side.close()
    for found in times:
        if isinstance(found, compare_sides.SideError):
            raise found
    return [[ms for found in rounds for ms in found] for rounds in times]


def rows_of(model, threads, ours, theirs):
    for table, of in TABLES.items():
        found = of(ours), of(theirs)
        print(f"{model.name:26} {threads} thread(s)  {table:36} {found[0]:8.3f}  LiteRT {found[1]:8.3f}  "
              f"{found[1] / found[0]:5.2f}", flush=True)
        yield {"table": table, "kind": model.kind, "model": model.name, "runs": [],
               "what": "1 thread" if threads == 1 else f"{threads} threads", "ours": peers.rounded(found[0]),
               "peer": peers.rounded(found[1]), "ratio": peers.rounded(found[1] / found[0])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), help="folder of a release build")
    parser.add_argument("--every", type=float, default=33, help="ms from the begin of a run to that of the next")
    parser.add_argument("--models", default=NETWORKS, help="parts of names")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turn", type=int, default=2000, help="ms of one engine's turn")
    rows = peers.Rows()
    rows.add_option(parser)
    options = parser.parse_args()
    compare_setup.library_of(options.build)
    compare_setup.need_peers()
    for model in compare_setup.models(options.build / "topwork", options.models.split(",")):
        for threads in THREADS:
            rows.rows += rows_of(model, threads, *measure(options, model, threads))
    rows.write(options.rows)


if __name__ == "__main__":
    main()
