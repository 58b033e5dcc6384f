"""Times LiteRT's own GPU backend (WebGPU on Vulkan) on models: for gpu_day.sh --litert.

  python gpu_litert.py MODEL...

Needs ai-edge-litert and a Vulkan loader. Prints a JSON list as its last line: per model the time of input, run and output in
milliseconds (median and minimum of 50 runs after 10), the seconds until the first answer, and whether the whole
model is on the GPU. Float32 is enforced in the first row of a model; the second has what LiteRT chooses.
"""
import json
import pathlib
import statistics
import sys
import time

import numpy as np
from ai_edge_litert.compiled_model import CompiledModel, GpuOptions, HardwareAccelerator, Options

WARM_UP, RUNS = 10, 50


def measure(path, enforce_f32):
    start = time.perf_counter()
    model = CompiledModel.from_file(str(path), options=Options(
        hardware_accelerators=HardwareAccelerator.GPU, gpu_options=GpuOptions(enforce_f32=enforce_f32)))
    signature = next(iter(model.get_signature_list()))
    inputs, outputs = model.create_input_buffers(0), model.create_output_buffers(0)
    details = list(model.get_input_tensor_details(signature).values())
    results = list(model.get_output_tensor_details(signature).values())
    data = [np.random.default_rng(1).uniform(-1, 1, detail["shape"]).astype(detail["dtype"]) for detail in details]

    def run():
        for buffer, value in zip(inputs, data):
            buffer.write(value)
        model.run_by_index(0, inputs, outputs)
        return [buffer.read(int(np.prod(detail["shape"])), detail["dtype"])
                for buffer, detail in zip(outputs, results)]

    run()
    first = time.perf_counter() - start
    times = []
    for _ in range(WARM_UP + RUNS):
        start = time.perf_counter()
        run()
        times.append(1e3 * (time.perf_counter() - start))
    times = times[WARM_UP:]
    return {"model": path.stem, "precision": "float32" if enforce_f32 else "LiteRT's choice",
            "p50_ms": statistics.median(times), "min_ms": min(times), "first_answer_s": first,
            "whole": model.is_fully_accelerated()}


def main():
    rows = []
    for name in sys.argv[1:]:
        for enforce_f32 in (True, False):
            try:
                rows.append(measure(pathlib.Path(name), enforce_f32))
            except Exception as error:  # the next model may be possible
                rows.append({"model": pathlib.Path(name).stem, "failed": str(error)[:300]})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
    print("\n" + json.dumps(rows))  # the last line: LiteRT writes words of its own before it


main()
