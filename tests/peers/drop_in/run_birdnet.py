"""birdnet, unmodified, with a custom model on topwork.tflite beside LiteRT: the largest difference of its scores and embeddings,
seconds for all clips (two processes in turn; the fastest round counts).

  python run_birdnet.py MODEL CLIPS [--rounds N] [--rows FILE]

MODEL is what recipes/birdnet.py made of BirdNET V2.4 (MODEL with _Labels.txt beside it, "replace" or "append"), CLIPS a folder
whose WAV files, and those in folders below it, are analysed. Run it by a Python with topwork, birdnet 1.3.1 and
ai-edge-litert. The package checks the file, predicts and encodes in processes of its own, with a worker on each side.
"""
import argparse
import json
import pathlib
import sys
import time

import numpy as np

import sides

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

LIMIT = 1e-4
sides.use_named()


def one_side(path, clips, into):
    import birdnet
    labels = path.with_name(path.stem + "_Labels.txt")
    info = birdnet.inspect_custom_tflite(path, library="litert")
    model = birdnet.load_custom("acoustic", "auto", "tf", path, labels, library="litert")
    start = time.perf_counter()
    scores = model.predict(clips, top_k=info.n_species, default_confidence_threshold=-1e9, n_workers=1, bandpass_fmin=0)
    seconds = time.perf_counter() - start
    embeddings = model.encode(clips, n_workers=1)
    order = np.argsort(scores.species_ids, axis=-1)
    np.savez(into, scores=np.take_along_axis(scores.species_probs, order, axis=-1), embeddings=embeddings.embeddings)
    print(json.dumps({"seconds": seconds, "mode": info.mode, "n_species": info.n_species}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("clips", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    clips = sorted(options.clips.glob("**/*.wav"))
    if options.side:
        one_side(options.model, clips, options.side[1])
        return
    found, said = sides.both(__file__, (options.model, options.clips), options.rounds)
    gaps = sides.gaps(found)
    times = [[one["seconds"] for one in said[side]] for side in sides.SIDES]
    fastest = [min(some) for some in times]
    last = said["topwork"][0]
    what = f"{last['mode']}, {last['n_species']} classes, {len(clips)} clips"
    print(f"{what}: {gaps['scores']:.2e} apart; {fastest[0]:.2f} and {fastest[1]:.2f} s")
    table.add(what, "s for all clips", *fastest, fastest[1] / fastest[0], runs=list(zip(*times)))
    table.write(options.rows)
    if gaps["scores"] > LIMIT:
        sys.exit(f"FAIL: scores differ by more than {LIMIT}")


if __name__ == "__main__":
    main()
