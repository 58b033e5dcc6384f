"""Graphs as files for TFLite Micro hold them; TFLite Micro itself answers."""

import numpy as np

from cases import Case, Table
from ops_signal import answered, bank, gains, operator, subtraction
from sheets import Sheet

SAMPLES, FFT, CHANNELS = 60, 64, 8


def _front_end():
    """Samples to features, as the preprocessor of the example micro_speech does it."""
    table = Table("MICRO_FRONT_END")
    sheet = Sheet("FRONT_END", "front_end")
    samples = sheet.x((SAMPLES,), "int16", lo=-5000, hi=5000)
    window = sheet.c(None, "int16", values=4096 * np.sin(np.arange(SAMPLES) / SAMPLES * np.pi)**2)
    n = FFT // 2 + 1

    def then(op, inputs, *outputs, **options):
        return operator(sheet, op, inputs, outputs, **options)

    framed = then("Window", [samples, window], ("int16", (SAMPLES,)), shift=12)
    scaled, bits = then("FftAutoScale", framed, ("int16", (SAMPLES,)), ("int32", ()))
    spectrum = then("Rfft", [scaled], ("int16", (2 * n,)), T=7, fft_length=FFT)
    energy = then("Energy", spectrum, ("uint32", (n,)), start_index=0, end_index=n)
    sums = then("FilterBank", energy + bank(sheet, CHANNELS, n), ("uint64", (CHANNELS,)),
                num_channels=CHANNELS)
    roots = then("FilterBankSquareRoot", sums + [bits], ("uint32", (CHANNELS,)))
    clean, noise = then("FilterBankSpectralSubtraction", roots, *[("uint32", (CHANNELS,))] * 2,
                        **subtraction(CHANNELS))
    gained = then("PCAN", [clean, noise, sheet.ints(gains(), "int16")], ("uint32", (CHANNELS,)),
                  snr_shift=6)
    then("FilterBankLog", gained, ("int16", (CHANNELS,)), output_scale=1600,
         input_correction_bits=3)
    answered(sheet, table, runs=4)
    return table


def _transpose_conv():
    """TFLite Micro takes the output's shape from the output; the input holds anything, or a place holder."""
    table = Table("MICRO_TRANSPOSE_CONV")
    for dtype, filters, scale in (("float32", "float32", None), ("int8", "int8", 0.05),
                                  ("int16", "int8", 0.01)):
        for at, (padding, out) in enumerate((("SAME", (6, 4)), ("VALID", (7, 6)))):
            sheet = Sheet("TRANSPOSE_CONV", f"{dtype}_{padding.lower()}")
            x = sheet.x((1, 3, 2, 3), dtype, scale)
            weights = sheet.c((4, 3, 4, 3), filters, scale and 0.02)
            shape = sheet.ints((1, 1, 0, 1)) if at else sheet.x((4,), "int32", lo=-9, hi=9)
            result = sheet.add([shape, weights, x], dtype, scale, padding=padding, stride_h=2,
                               stride_w=2)
            sheet.graph.tensors[result].shape = (1, *out, 4)
            table.append(Case(sheet.name, [sheet.graph], sheet.inputs, micro=True,
                              rtol=1e-6 if scale is None else 0.0))
    return table


def tables():
    return [_front_end(), _transpose_conv()]
