"""What the comparisons of unmodified programs share: LiteRT or topwork.tflite under the names that they import."""
import argparse
import importlib.abc
import json
import pathlib
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

SIDES = ("topwork", "litert")
NAMES = ("tflite_runtime", "ai_edge_litert")


class Hidden(importlib.abc.MetaPathFinder):
    """Makes LiteRT's packages look as if they were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in NAMES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def use(side):
    """topwork.tflite in place of LiteRT, which then cannot be had; or LiteRT under the name tflite_runtime as well, which no
    new Python has a wheel of. To be called at the top of a script: other processes that it starts import it, too."""
    if side == "topwork":
        import topwork.tflite
        sys.meta_path.insert(0, Hidden())
        topwork.tflite.install()
        return
    import types
    from ai_edge_litert import interpreter
    sys.modules["tflite_runtime"] = types.ModuleType("tflite_runtime")
    sys.modules["tflite_runtime"].interpreter = sys.modules["tflite_runtime.interpreter"] = interpreter


def use_named():
    """The side that `--side SIDE FILE` on the command line names."""
    if "--side" in sys.argv:
        use(sys.argv[sys.argv.index("--side") + 1])


def both(script, arguments, rounds):
    """Runs the script with `--side SIDE FILE` for both sides in turn. Returns for each side the arrays that the last round left
    in FILE, and what the rounds printed as JSON in their last line."""
    found, said = {}, {side: [] for side in SIDES}
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(rounds):
            for side in SIDES:
                path = pathlib.Path(folder) / f"{side}.npz"
                done = subprocess.run([sys.executable, "-B", script, *map(str, arguments), "--side", side, str(path)],
                                      capture_output=True, text=True)
                if done.returncode:
                    sys.exit(f"{side}: {done.stderr[-3000:]}")
                said[side].append(json.loads(done.stdout.splitlines()[-1]))
                found[side] = dict(np.load(path))
    return found, said


def gaps(found):
    """{name: largest difference} of the sides' arrays, which are printed."""
    apart = {}
    for name, ours in sorted(found["topwork"].items()):
        theirs = found["litert"][name]
        apart[name] = float(np.abs(ours - theirs).max())
        print(f"{name}: {ours.shape}, largest {theirs.max():.4f}, apart {apart[name]:.2e}")
    return apart


class Compared(NamedTuple):
    """What both sides came to."""
    found: dict  # {side: {name: array}}
    said: dict   # what topwork's first round printed
    gaps: dict   # {name: largest difference}
    n_clips: int
    times: list  # of each side, by round
    table: peers.Rows
    rows: str    # where the table goes

    def fastest(self):
        return [min(some) for some in self.times]

    def write(self, what, unit):
        ours, theirs = self.fastest()
        self.table.add(what, unit, ours, theirs, theirs / ours, runs=list(zip(*self.times)))
        self.table.write(self.rows)


def compare(script, about, path_name, time_name, one_side):
    """Reads the command line of the script: a path called path_name, and the folder of clips. Where it names a side,
    one_side(path, clips, file) runs and the program ends; else both do so in turn. time_name: what rounds print of their time."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(path_name, type=pathlib.Path)
    parser.add_argument("clips", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    path = getattr(options, path_name)
    clips = sorted(options.clips.glob("**/*.wav"))
    if options.side:
        one_side(path, clips, options.side[1])
        sys.exit()
    found, said = both(script, (path, options.clips), options.rounds)
    times = [[one[time_name] for one in said[side]] for side in SIDES]
    return Compared(found, said["topwork"][0], gaps(found), len(clips), times, table, options.rows)
