"""birdnet, unmodified, with a custom model on topwork.tflite beside LiteRT: the largest difference of its scores and embeddings,
seconds for all clips (two processes in turn; the fastest round counts).

  python run_birdnet.py MODEL CLIPS [--rounds N] [--rows FILE]

MODEL is what recipes/birdnet.py made of BirdNET V2.4 (MODEL with _Labels.txt beside it, "replace" or "append"), CLIPS a folder
whose WAV files, and those in folders below it, are analysed. Run it by a Python with topwork, birdnet 1.3.1 and
ai-edge-litert. The package checks the file, predicts and encodes in processes of its own, with a worker on each side.
"""
import json
import sys
import time

import numpy as np

import sides

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
    compared = sides.compare(__file__, __doc__, "model", "seconds", one_side)
    ours, theirs = compared.fastest()
    said, gap = compared.said, compared.gaps["scores"]
    what = f"{said['mode']}, {said['n_species']} classes, {compared.n_clips} clips"
    print(f"{what}: {gap:.2e} apart; {ours:.2f} and {theirs:.2f} s")
    compared.write(what, "s for all clips")
    if gap > LIMIT:
        sys.exit(f"FAIL: scores differ by more than {LIMIT}")


if __name__ == "__main__":
    main()
