"""Runs that come every now and then, as of a camera's pictures, beside LiteRT: the median and the slow ones.

  python3 paced.py BUILD [--every MS] [--models WORD,...] [--rounds N] [--turn MS] [--rows FILE]

BUILD is a release build. Between two runs the threads sleep, and the system decides anew where they run. Both
engines take turns, as in compare.py, which makes the models and installs LiteRT. Where one cannot go on, or their
answers differ, the script ends with a sentence and writes no rows. paced_test.py tests it.
"""
import argparse
import pathlib
import statistics
import sys

import compare
import compare_rows
import compare_setup
import compare_sides
import peers

NETWORKS = "MobileNetV2 int8,MobileNetV1 f32,EfficientNet-Lite0 int8,EfficientNet-B0 f32,EfficientNet-B0 dynamic"
THREADS = (1, 2)
ENGINES = ("topwork", "litert")


def slow(times):
    """What one run in twenty exceeds: the least time that 19 of 20 runs keep within."""
    return sorted(times)[(len(times) * 19 - 1) // 20]


TABLES = {"Median, ms": statistics.median, "One run in twenty takes longer, ms": slow}


class Refusal(Exception):
    """An engine cannot be measured; the text says which and why."""


def open_all(sides, build, model, threads):
    """Adds a process of each engine with the model open to `sides`; the answers must resemble each other."""
    answers = []
    for engine in ENGINES:
        try:
            sides.append(compare.start(engine, build))
            sides[-1].wait()
            answers.append(compare.opened(sides[-1], model.path, threads, 1)["values"])
        except compare_sides.SideError as error:
            raise Refusal(f"{engine}: {error}") from None
    if compare.correlation(*answers) < compare.LEAST_CORRELATION:
        raise Refusal("LiteRT's answers are others than Topwork's")


def measure(options, model, threads):
    """[Topwork's times, LiteRT's] of all rounds, each a list of ms."""
    sides = []
    try:
        open_all(sides, options.build, model, threads)
        times = compare_sides.take_turns(sides, options.rounds, options.turn, every=options.every)
    finally:
        for side in sides:
            side.close()
    for engine, found in zip(ENGINES, times):
        if isinstance(found, compare_sides.SideError):
            raise Refusal(f"{engine}: {found}")
    return [[ms for found in rounds for ms in found] for rounds in times]


def rows_of(model, threads, ours, theirs):
    what = compare_rows.plural(threads)
    for table, of in TABLES.items():
        found = of(ours), of(theirs)
        print(f"{model.name:26} {what:9}  {table:36} {found[0]:8.3f}  LiteRT {found[1]:8.3f}  "
              f"{found[1] / found[0]:5.2f}", flush=True)
        yield {"table": table, "kind": model.kind, "model": model.name, "runs": [],
               "what": what, "ours": peers.rounded(found[0]), "peer": peers.rounded(found[1]),
               "ratio": peers.rounded(found[1] / found[0])}


def parse():
    def words(text):
        return [word for word in text.split(",") if word]

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve(), help="folder of a release build")
    parser.add_argument("--every", type=float, default=33, help="ms from the begin of a run to that of the next")
    parser.add_argument("--models", type=words, default=words(NETWORKS), help="parts of names")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--turn", type=int, default=2000, help="ms of one engine's turn")
    peers.Rows().add_option(parser)
    options = parser.parse_args()
    for name in ("every", "rounds", "turn"):
        if not getattr(options, name) > 0:
            parser.error(f"--{name} {getattr(options, name)}: above 0")
    return options


def main():
    options, rows = parse(), peers.Rows()
    compare_setup.library_of(options.build)
    compare_setup.need_peers()
    for model in compare_setup.models(options.build / "topwork", options.models):
        for threads in THREADS:
            try:
                rows.rows += rows_of(model, threads, *measure(options, model, threads))
            except Refusal as why:
                sys.exit(f"paced: {model.name}, {compare_rows.plural(threads)}: {why}")
    rows.write(options.rows)


if __name__ == "__main__":
    main()
