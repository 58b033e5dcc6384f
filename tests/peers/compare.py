"""Latency, start and memory of models beside LiteRT, MNN, ONNX Runtime and ncnn, in one run.

  python3 compare.py BUILD [--plan] [--models WORD,...] [--peers NAME,...] [--threads 1,2] [--batches 1,8]
      [--rounds N] [--turn MS] [--starts N] [--no-busy] [--near NS] [--rows FILE]
  python3 compare.py BUILD --quick

BUILD is a release build with `topwork` and `libtopwork.so`. The peers are installed into build/peers-venv,
and tensorflow, which makes models, into build/peers-tensorflow; the models come to build/peers-models.
--plan does that, tells what each peer can take, and stops. --models takes models whose names contain a
word. --quick is a test: two threads beat one (compare_quick.py); it needs the standard library only.
README.md beside this file says how it measures.
"""
import argparse
import contextlib
import pathlib
import statistics
import sys

import compare_quick
import compare_rows
import compare_setup
import compare_sides
import peers

# A peer whose answers have less in common with ours than this runs something else.
LEAST_CORRELATION = 0.5


def correlation(a, b):
    """Of two lists of numbers; 1 for two that never change, 0 if they cannot be compared."""
    if len(a) != len(b) or not a:
        return 0.0
    if a == b:
        return 1.0
    try:
        return statistics.correlation(a, b)
    except (statistics.StatisticsError, ValueError, OverflowError):
        return 0.0


def start(engine, build):
    """A process of the engine, which imports its packages."""
    if engine == "topwork":
        return compare_sides.Side(engine, sys.executable, build / "libtopwork.so")
    return compare_sides.Side(engine, compare_setup.python("peers-venv"))


def opened(side, path, threads, batch):
    """Opens the model and takes its answer at once: later runs may have overwritten its input."""
    first = side.ask("open", model=str(path), threads=threads, batch=batch)
    first["values"] = side.ask("answer")["values"]
    side.stop()
    return first


class Comparison:
    def __init__(self, options, rows):
        self.options, self.rows = options, rows
        self.build = pathlib.Path(options.build).resolve()
        self.versions = {}
        self.wrong = []  # what LiteRT, which reads the same file, answers otherwise

    def files(self, model):
        """The file that each engine opens; says why an engine has none."""
        found = {"topwork": model.path}
        for peer in self.options.peers:
            try:
                found[peer] = compare_setup.file_for(peer, model)
            except compare_setup.SetupError as error:
                print(f"  {compare_setup.PEERS[peer]:14} left out: {error}", flush=True)
        return found

    def open_all(self, files, threads, batch):
        """The engines that run the model so. How long these take to open it says nothing: the first one
        reads the file from the disk."""
        sides, ours = [], None
        for engine, path in files.items():
            side = None
            try:
                side = start(engine, self.build).wait()
                self.versions[engine] = side.version
                values = opened(side, path, threads, batch)["values"]
                ours = values if ours is None else ours
                if correlation(ours, values) < LEAST_CORRELATION:
                    if engine == "litert":
                        self.wrong.append(f"{path}, {compare_rows.plural(threads)}, batch {batch}")
                    raise compare_sides.SideError("its answers are others than Topwork's")
                sides.append(side)
            except compare_sides.SideError as error:
                if side:
                    side.close()
                title = compare_setup.PEERS.get(engine, "Topwork")
                where = f"{compare_rows.plural(threads)}, batch {batch}"
                print(f"  {title:14} {where}: left out: {error}", flush=True)
                if engine == "topwork":
                    return []
        return sides

    def measure_starts(self, number, files, threads, starts):
        """First answers of new processes, in turn; every round begins with another engine. All of a round
        import their packages at the same time, which takes longer than what is measured."""
        def attempt(side, step):
            try:
                return step()
            except compare_sides.SideError as error:
                print(f"  {side.engine}: a start failed: {error}", flush=True)
                side.close()
                return None

        order = list(starts)
        order = order[number % len(order):] + order[:number % len(order)]
        sides = [start(engine, self.build) for engine in order]
        for side in [side for side in sides if attempt(side, side.wait)]:
            first = attempt(side, lambda side=side: opened(side, files[side.engine], threads, 1))
            if first:
                starts[side.engine].append(first)
                side.close()

    def measure(self, model, files, threads, batch):
        """A part of the starts comes before each of the other measurements, and after: what disturbs the
        machine for some seconds does not meet them all."""
        sides = self.open_all(files, threads, batch)
        starts = {side.engine: [] for side in sides}
        parts = (False, True, None) if self.options.busy else (False, None)
        n_starts = self.options.starts if batch == 1 else 0
        try:
            if len(sides) < 2:
                return
            for i, busy in enumerate(parts):
                for number in range(n_starts * i // len(parts), n_starts * (i + 1) // len(parts)):
                    self.measure_starts(number, files, threads, starts)
                if busy is not None:
                    times = self.take_turns(sides, busy, threads)
                    self.rows.latency(model, threads, batch, busy, dict(zip(starts, times)))
            if n_starts > 0:
                self.rows.starts(model, threads, {engine: firsts for engine, firsts in starts.items() if firsts})
        finally:
            for side in sides:
                side.close()

    def take_turns(self, sides, busy, threads):
        ready = self.await_near if threads > 1 and not busy else None
        with compare_sides.Busy() if busy else contextlib.nullcontext():
            return compare_sides.take_turns(sides, self.options.rounds, self.options.turn, ready=ready)

    def await_near(self):
        if self.options.near:
            compare_sides.await_near(self.build / "topwork_handover_bench", self.options.near)

    def run(self, models):
        for number, model in enumerate(models, 1):
            print(f"{number} of {len(models)}: {model.name} ({model.kind})", flush=True)
            files = self.files(model)
            if self.options.plan:
                self.open_plan(files)
                continue
            for batch in self.options.batches:
                for threads in self.options.threads:
                    self.measure(model, files, threads, batch)
            self.rows.model_is_done(model, self.versions)
            self.rows.write(self.options.rows)
        if not self.options.plan:
            self.rows.print_summary()
        if self.wrong:
            sys.exit("compare: LiteRT's answers are others for " + "; ".join(self.wrong))

    def open_plan(self, files):
        """Who opens the model, for each batch."""
        for batch in self.options.batches:
            sides = self.open_all(files, 1, batch)
            names = [compare_setup.PEERS.get(side.engine, "Topwork") for side in sides]
            print(f"  batch {batch}: {', '.join(names)}", flush=True)
            for side in sides:
                side.close()


def parse():
    def words(text):
        return [word for word in text.split(",") if word]

    def numbers(text):
        return [int(word) for word in words(text)]

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", help="folder of a release build")
    parser.add_argument("--quick", action="store_true", help="only test that two threads beat one")
    parser.add_argument("--plan", action="store_true", help="install, convert, tell, and stop")
    parser.add_argument("--models", type=words, default=[], help="parts of names")
    parser.add_argument("--peers", type=words, default=list(compare_setup.PEERS))
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--batches", type=numbers, default=[1, 8])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--turn", type=int, default=150, help="ms of one engine's turn")
    parser.add_argument("--starts", type=int, default=12, help="processes that open the model anew")
    parser.add_argument("--no-busy", dest="busy", action="store_false", help="only the quiet machine")
    parser.add_argument("--near", type=int, default=0, metavar="NS",
                        help="take turns of several threads only while a word takes no longer from one "
                        "processor to another and back (topwork_handover_bench)")
    peers.Rows().add_option(parser)
    options = parser.parse_args()
    unknown = [name for name in options.peers if name not in compare_setup.PEERS]
    if unknown:
        parser.error(f"no peer is called {unknown[0]}; there are {', '.join(compare_setup.PEERS)}")
    return options


def main():
    options = parse()
    library = compare_setup.library_of(options.build)
    if options.quick:
        sys.exit(compare_quick.check(library, sys.executable))
    compare_setup.need_peers()
    models = compare_setup.models(pathlib.Path(options.build) / "topwork", options.models)
    Comparison(options, compare_rows.Rows()).run(models)


if __name__ == "__main__":
    main()
