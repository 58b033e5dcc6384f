"""The quick start with a command line that is there: it ends well, leaves its files, and the new model
knows what the stock one does not.

Usage: linux_quickstart_test.py TOPWORK
"""
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    problems = []
    with tempfile.TemporaryDirectory(prefix="topwork quickstart ") as name:
        done = subprocess.run([ROOT / "ports" / "linux" / "quickstart.sh", name, tool], cwd=name,
                              capture_output=True, text=True, encoding="utf-8")
        folder = pathlib.Path(name)
        if done.returncode != 0:
            print(f"it ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
            sys.exit(1)
        top1 = {when: json.loads((folder / f"{when}.json").read_text())["top1"]
                for when in ("before", "after", "forgotten")}
        if top1["before"] != 0.0 or min(top1["after"], top1["forgotten"]) < 0.95:
            problems.append(f"accuracies are {top1}")
        for text in ("Egyptian cat", "0.0 % before", "report.html", "unknown  p-value", "1 removed",
                     f"info '{name}/faces.tflite' --plan"):
            if text not in done.stdout:
                problems.append(f"'{text}' is not in its output:\n{done.stdout}")
        for file in ("faces.tflite", "report.html", "faces.memory"):
            if not (folder / file).is_file():
                problems.append(f"it leaves no {file}")
    print("\n".join(problems) or "ok")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
