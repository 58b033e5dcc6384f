"""What the comparisons of unmodified programs share: LiteRT or topwork.tflite under the names that they import."""
import importlib.abc
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

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
