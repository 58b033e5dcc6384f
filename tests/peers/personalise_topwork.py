"""The Topwork side of personalise_peers.py: `topwork train` from the start of its process to its end.

WORK/topwork holds the path of the command. Nothing is imported or opened before the clock starts.
"""

import json
import pathlib
import subprocess

import personalise_side as side


def train(job):
    topwork = (job.work / "topwork").read_text()
    command = [topwork, "train", job.work / "model_f32.tflite", "--data", job.images, "--output",
               job.output, "--epochs", str(job.epochs), "--batch", str(side.BATCH), "--threads",
               str(job.threads), "--validation", "0", "--mean", str(side.MEAN), "--std",
               str(side.STD), "--json"]
    job.start()
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    job.done("all")
    report = json.loads(done.stdout)
    job.seconds = report["seconds"]
    job.finish(report["epochs"][-1]["train_accuracy"], pathlib.Path(topwork).name)


if __name__ == "__main__":
    side.main(lambda work: None, {"topwork": train})
