"""What compare.py measured: the lines that it prints, and the rows of BENCHMARKS.md.

A row of a table has `table`, its title; `kind`, by which geometric means are taken; and what every row
of figures.json has. Its ratio is the peer's number over Topwork's, from the rounds' medians or from the
fastest runs, or the time of one thread over that of two.
"""
import math
import statistics

import compare_setup
import compare_sides
import peers


def plural(threads):
    return f"{threads} thread" + ("s" if threads > 1 else "")


def title(engine, versions):
    if engine == "topwork":
        return "Topwork"
    return f"{compare_setup.PEERS[engine]} {versions.get(engine, '')}".strip()


def peers_of(results):
    """The peers that Topwork is compared with: none where it has no result itself."""
    return [engine for engine in results if engine != "topwork"] if "topwork" in results else []


class Summary:
    """One engine's times of one setting: rounds of lists of ms."""

    def __init__(self, rounds):
        self.medians = [statistics.median(times) for times in rounds]
        self.median = statistics.median(self.medians)
        self.minimum = min(min(times) for times in rounds)


class Rows:
    def __init__(self):
        self.done = []      # rows of models that are done
        self.times = {}     # of the current model: (threads, batch, busy) -> engine -> Summary
        self.first = {}     # of the current model: threads -> engine -> (ms, MB)

    def latency(self, model, threads, batch, busy, times):
        good = {engine: Summary(rounds) for engine, rounds in times.items()
                if not isinstance(rounds, compare_sides.SideError)}
        for engine in [engine for engine in times if engine not in good]:
            print(f"  {engine}: {plural(threads)}, batch {batch}: left out: {times[engine]}", flush=True)
        self.times[threads, batch, busy] = good
        where = f"{plural(threads)}, batch {batch}{', busy' if busy else ''}"
        ours = good.get("topwork")
        for engine, summary in good.items():
            ratios = ""
            if ours and engine != "topwork":
                ratios = (f"   ratio of medians {median_ratio(ours, summary):5.2f}, "
                          f"of minima {summary.minimum / ours.minimum:5.2f}")
            print(f"  {where:24} {title(engine, {}):14} median {summary.median:9.3f} ms, "
                  f"minimum {summary.minimum:9.3f}{ratios}", flush=True)

    def starts(self, model, threads, starts):
        self.first[threads] = {}
        for engine, firsts in starts.items():
            ms = statistics.median(first["open_ms"] for first in firsts)
            mb = statistics.median(first["peak_mb"] for first in firsts)
            self.first[threads][engine] = (ms, mb)
            print(f"  {plural(threads) + ', start':24} {title(engine, {}):14} first answer {ms:8.1f} ms, "
                  f"peak memory {mb:7.1f} MB", flush=True)

    def model_is_done(self, model, versions):
        """Turns what was kept of the model into rows."""
        for (threads, batch, busy), good in self.times.items():
            ours = good.get("topwork")
            for engine in peers_of(good):
                table = f"{title(engine, versions)}, batch {batch}, ms"
                self.add_latency(model, table, plural(threads), busy, ours, good[engine])
        for threads, engines in self.first.items():
            ours = engines.get("topwork")
            for engine in peers_of(engines):
                table = f"{title(engine, versions)}: open to first answer (ms), peak memory (MB)"
                self.add(model, table, f"first answer, {plural(threads)}", ours[0], engines[engine][0])
                self.add(model, table, f"peak memory, {plural(threads)}", ours[1], engines[engine][1])
        for batch in dict.fromkeys(batch for _, batch, _ in self.times):
            for busy in (False, True):
                self.add_speed_up(model, batch, busy, versions)
        self.times, self.first = {}, {}

    def add_latency(self, model, table, threads, busy, ours, theirs):
        runs = list(zip(ours.medians, theirs.medians))
        what = f"{threads}, {'busy' if busy else 'median'}"
        self.add(model, table, what, ours.median, theirs.median, median_ratio(ours, theirs), runs)
        if not busy:
            self.add(model, table, f"{threads}, minimum", ours.minimum, theirs.minimum)

    def add_speed_up(self, model, batch, busy, versions):
        """Minima on a quiet machine, medians beside other work."""
        one, two = (self.times.get((threads, batch, busy), {}) for threads in (1, 2))
        table = f"Two threads against one: times as fast, batch {batch}"
        for engine in [e for e in one if e in two]:
            a, b = one[engine], two[engine]
            gain = a.median / b.median if busy else a.minimum / b.minimum
            what = title(engine, versions) + (", busy" if busy else "")
            self.add(model, table, what, None, None, gain)

    def add(self, model, table, what, ours, peer, ratio=None, runs=()):
        row = {"model": model.name, "what": what, "ours": ours, "peer": peer,
               "ratio": ratio if ratio else peer / ours, "runs": list(runs)}
        row = {key: peers.rounded(value) for key, value in row.items()}
        self.done.append({**row, "table": table, "kind": model.kind})

    def write(self, path):
        """Written after every model, so that a run that is cut short is not lost. The tables without a
        peer come first, then those of each peer."""
        names = list(compare_setup.PEERS.values())

        def place(table):
            return next((i for i, name in enumerate(names) if table.startswith(name)), -1)

        first_seen = list(dict.fromkeys(row["table"] for row in self.done))
        tables = sorted(first_seen, key=place)
        result = peers.Rows()
        result.rows = sorted(self.done, key=lambda row: tables.index(row["table"]))
        result.write(path)

    def print_summary(self):
        """Geometric means of the ratios, by table, column and kind."""
        groups = {}
        for row in self.done:
            for kind in (row["kind"], "all"):
                groups.setdefault((row["table"], row["what"], kind), []).append(row["ratio"])
        print("geometric means of the ratios")
        for (table, what, kind), ratios in sorted(groups.items()):
            mean = math.exp(statistics.fmean(map(math.log, ratios)))
            print(f"  {table:58} {what:28} {kind:8} {mean:6.2f}  (least {min(ratios):.2f}, {len(ratios)} models)")


def median_ratio(ours, theirs):
    """The median of the rounds' ratios: a machine's speed drifts, and both sides drift with it."""
    return statistics.median(b / a for a, b in zip(ours.medians, theirs.medians))
