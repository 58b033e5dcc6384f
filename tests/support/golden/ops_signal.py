"""TFLite Micro's signal library, one sheet of operators a model; TFLite Micro itself answers."""

import functools

import numpy as np
from flatbuffers import flexbuffers

from build import rng_for
from cases import Case, Table
from sheets import Sheet

NUMBER = {"float32": 0, "int32": 2, "int16": 7}
LENGTHS = (4, 6, 8, 10, 12, 16, 18, 20, 24, 30, 32, 36, 40, 48, 50, 54, 60, 64, 80, 90)


def operator(sheet, op, inputs, outputs, **options):
    """Adds an operator whose results are outputs of the model. outputs: (dtype, shape) of each."""
    custom = bytes(flexbuffers.Dumps(options)) if options else b""
    results = sheet.graph.op(f"CUSTOM:Signal{op}", inputs, [dtype for dtype, _ in outputs],
                             custom_options=custom)
    results = results if isinstance(results, list) else [results]
    for result, (_, shape) in zip(results, outputs):
        sheet.graph.tensors[result].shape = shape  # TFLite Micro takes it from the file
        sheet.graph.tensors[result].computed = False
    sheet.graph.outputs += results
    return results


def answered(sheet, table, runs=1, settle=None):
    """Appends the sheet: `runs` runs of one session, with new numbers in each.

    settle(run, answers): see Case.
    """
    for run in range(runs):
        inputs = sheet.inputs
        if run > 0:
            rng = rng_for(f"{sheet.op}/{sheet.name}/{run}")
            inputs = [rng.permutation(array.ravel()).reshape(array.shape) for array in inputs]
        table.append(Case(f"{sheet.name}_{run}" if run else sheet.name, [sheet.graph], inputs,
                          rtol=1e-6, micro=True, same_model=run > 0,
                          settle=settle and functools.partial(settle, run)))


def _samples(sheet, shape, dtype):
    if dtype == "float32":
        return sheet.x(shape, dtype, lo=-1, hi=1)
    most = 2**(15 if dtype == "int16" else 31) - 1
    return sheet.x(shape, dtype, lo=-most - 1, hi=most)


def transforms(sheet, dtype, lengths):
    for at, n in enumerate(lengths):
        rows = (1, 2, 1)[at % 3]
        options = dict(T=NUMBER[dtype], fft_length=n)
        samples = _samples(sheet, (rows, n - (0, 0, 1, 3)[at % 4]), dtype)
        operator(sheet, "Rfft", [samples], [(dtype, (rows, n + 2))], **options)
        spectrum = _samples(sheet, (rows, n + 2), dtype)
        operator(sheet, "Irfft", [spectrum], [(dtype, (rows, n))], **options)


def _transforms():
    table = Table("SIGNAL_RFFT")
    for dtype in NUMBER:
        sheet = Sheet("CUSTOM:SignalRfft", dtype)
        transforms(sheet, dtype, LENGTHS)
        answered(sheet, table)
    sheet = Sheet("CUSTOM:SignalFftAutoScale", "auto_scale")
    for at in range(16):
        most = 2**at - 1
        x = sheet.x((7,), "int16", lo=-most, hi=most)
        operator(sheet, "FftAutoScale", [x], [("int16", (7,)), ("int32", ())])
    for values in ([-32768, 5, -6], [5, -32768], [-32768, -32768], [0, 0, 0]):
        x = sheet.x(None, "int16", values=values)
        operator(sheet, "FftAutoScale", [x], [("int16", (len(values),)), ("int32", ())])
    answered(sheet, table)
    return table


def whole(rng, shape, bits):
    """Random numbers of 0 to `bits` bits."""
    wide = rng.randint(0, 2**31, shape).astype(np.uint64) << np.uint64(32)
    wide |= rng.randint(0, 2**31, shape).astype(np.uint64) << np.uint64(1)
    return (wide >> (64 - rng.randint(0, bits + 1, shape)).clip(0, 63).astype(np.uint64))


def _numbers(sheet, n, dtype, bits=None):
    bits = bits or {"uint32": 32, "uint64": 64}[dtype]
    return sheet.x(None, dtype, values=whole(sheet.rng, n, bits).astype(dtype))


def bank(sheet, n, size):
    """Constants of a bank of n channels over `size` energies."""
    rng = sheet.rng
    widths = rng.randint(0, 7, n + 1)
    starts = [rng.randint(0, size - width + 1) for width in widths]
    weights = rng.randint(0, 4097, (2, widths.sum()))
    firsts = np.cumsum(widths) - widths
    return [sheet.c(None, "int16", values=v) for v in (*weights, starts, firsts, widths)]


def subtraction(n, at=0):
    return dict(num_channels=n, smoothing=410 + at, one_minus_smoothing=15974 - 3 * at,
                alternate_smoothing=983, alternate_one_minus_smoothing=15401 + at,
                smoothing_bits=(10, 4, 0, 16)[at % 4], min_signal_remaining=819,
                clamping=at % 2 == 1, spectral_subtraction_bits=(14, 15)[at % 3 == 2])


def gains(strength=0.95, offset=80.0, bits=21, correction=3):
    """The table of PCAN's gain, as TFLite Micro's Python makes it."""

    def gain(x):
        value = (1 << bits) * (x / (1 << correction) + offset)**-strength
        return min(int(value + 0.5), 0x7FFF)

    table = [gain(0), gain(1), gain(2)] + [0] * 122
    for interval in range(2, 33):
        x0 = 1 << (interval - 1)
        x1, x2 = x0 + (x0 >> 1), (2**32 - 1 if interval == 32 else 2 * x0)
        y0, y1, y2 = gain(x0), gain(x1), gain(x2)
        a1, a2 = 4 * (y1 - y0) - (y2 - y0), (y2 - y0) - (4 * (y1 - y0) - (y2 - y0))
        table[4 * interval - 6:4 * interval - 3] = [y0, a1, a2]
    return np.array(table, np.int16)


def _banks():
    table = Table("SIGNAL_FILTER_BANK")
    sheet = Sheet("CUSTOM:SignalEnergy", "energy")
    for at in range(20):
        x = sheet.x((2 * (at + 1),), "int16")
        operator(sheet, "Energy", [x], [("uint32", (at + 1,))], start_index=0, end_index=at + 1)
    answered(sheet, table)
    sheet = Sheet("CUSTOM:SignalFilterBank", "filter_bank")
    for at in range(20):
        x = _numbers(sheet, 20 + at, "uint32")
        operator(sheet, "FilterBank", [x] + bank(sheet, at, 20 + at), [("uint64", (at,))],
                 num_channels=at)
    answered(sheet, table)
    sheet = Sheet("CUSTOM:SignalFilterBankSquareRoot", "square_root")
    for at in range(20):
        bits = sheet.x(None, "int32", values=at)
        operator(sheet, "FilterBankSquareRoot", [_numbers(sheet, 9, "uint64"), bits],
                 [("uint32", (9,))])
    edges = [2**32 - 1, 2**32, 65535**2, 65535**2 + 65536, (2**32 - 1)**2, 2**64 - 1, 0, 1, 2, 3]
    none = sheet.ints(0)
    operator(sheet, "FilterBankSquareRoot", [sheet.x(None, "uint64", values=edges), none],
             [("uint32", (10,))])
    answered(sheet, table)
    sheet = Sheet("CUSTOM:SignalFilterBankSpectralSubtraction", "spectral_subtraction")
    for at in range(20):
        n = 1 + at % 7
        x = _numbers(sheet, n, "uint32", 20 + at % 13)
        operator(sheet, "FilterBankSpectralSubtraction", [x], [("uint32", (n,))] * 2,
                 **subtraction(n, at))
    answered(sheet, table, runs=4)
    sheet = Sheet("CUSTOM:SignalPCAN", "pcan")
    tables = [sheet.c(None, "int16", values=v)
              for v in (gains(), gains(0.5, 1, 12, 0), sheet.rng.randint(-2**15, 2**15, 125))]
    for at in range(20):
        x, noise = _numbers(sheet, 8, "uint32"), _numbers(sheet, 8, "uint32")
        operator(sheet, "PCAN", [x, noise, tables[at % 3]], [("uint32", (8,))], snr_shift=2 * at)
    answered(sheet, table)
    sheet = Sheet("CUSTOM:SignalFilterBankLog", "log")
    for at in range(20):
        operator(sheet, "FilterBankLog", [_numbers(sheet, 16, "uint32")], [("int16", (16,))],
                 output_scale=(1600, 65536, 1, 6554)[at % 4], input_correction_bits=at % 5)
    answered(sheet, table)
    return table


# rows, samples, frame_size, frame_step, prefill
FRAMES = (((), 4, 4, 4, 0), ((), 4, 6, 2, 0), ((2,), 6, 7, 3, 1), ((2, 3), 2, 3, 2, 0),
          ((), 3, 5, 1, 0), ((), 3, 5, 1, 1), ((), 8, 2, 4, 0), ((1,), 5, 12, 5, 0),
          ((), 2, 2, 1, 1), ((3,), 4, 3, 2, 1))
# channels, left, right, step
STACKS = ((1, 0, 1, 2), (3, 2, 0, 1), (2, 1, 1, 3), (4, 0, 0, 1), (2, 3, 2, 2))


def framer(sheet, rows, n, size, step, prefill):
    x = sheet.x((*rows, n), "int16")
    operator(sheet, "Framer", [x], [("int16", (*rows, n // step, size)), ("bool", ())],
             frame_size=size, frame_step=step, prefill=bool(prefill))


def _clear_frames(run, answers):
    """The first frames of a stream are not whole, those that wait for `missing` others."""
    for (_, _, size, step, prefill), frames in zip(FRAMES, answers[::2]):
        missing = 0 if prefill else -(-size // step) - 1
        frames[..., :max(0, missing - run * frames.shape[-2]), :] = 0


def _clear_stacks(run, answers):
    for stack, valid in zip(answers[::2], answers[1::2]):
        stack *= valid


def stacker(sheet, n, left, right, step):
    operator(sheet, "Stacker", [sheet.x((n,), "int16")],
             [("int16", (n * (left + 1 + right),)), ("bool", ())], num_channels=n,
             stacker_left_context=left, stacker_right_context=right, stacker_step=step)


def overlap_add(sheet, rows, frames, size, step, dtype):
    x = _samples(sheet, (*rows, frames, size), dtype)
    operator(sheet, "OverlapAdd", [x], [(dtype, (*rows, frames * step))], T=NUMBER[dtype],
             frame_step=step)


def _frames():
    table = Table("SIGNAL_FRAMES")
    sheet = Sheet("CUSTOM:SignalWindow", "window")
    for at in range(20):
        shape = ((at + 1,), (2, at + 1), (2, 1, at + 1))[at % 3]
        x, weights = sheet.x(shape, "int16"), sheet.c((at + 1,), "int16")
        operator(sheet, "Window", [x, weights], [("int16", shape)], shift=at)
    answered(sheet, table)
    sheet = Sheet("CUSTOM:SignalFramer", "framer")
    for frame in FRAMES:
        framer(sheet, *frame)
    answered(sheet, table, runs=5, settle=_clear_frames)
    sheet = Sheet("CUSTOM:SignalStacker", "stacker")
    for stack in STACKS:
        stacker(sheet, *stack)
    answered(sheet, table, runs=6, settle=_clear_stacks)
    sheet = Sheet("CUSTOM:SignalDelay", "delay")
    for at in range(10):
        shape = ((5,), (2, 3), (2, 2, 2))[at % 3]
        operator(sheet, "Delay", [sheet.x(shape, "int16")], [("int16", shape)], delay_length=at)
    answered(sheet, table, runs=4)
    for dtype in ("int16", "float32"):
        sheet = Sheet("CUSTOM:SignalOverlapAdd", f"overlap_add_{dtype}")
        for at in range(10):
            overlap_add(sheet, ((), (2,), (1, 2))[at % 3], 1 + at % 4, 3 + at, 1 + at // 2, dtype)
        answered(sheet, table, runs=4)
    return table


def tables():
    return [_transforms(), _banks(), _frames()]
