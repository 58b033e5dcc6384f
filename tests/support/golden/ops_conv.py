"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED; filters are mostly constants."""

from cases import Table, x, c, ci

# LiteRT takes a fused TANH or SIGN_BIT and ignores it (FULLY_CONNECTED refuses it): no case has
# one.
ACTS = ("RELU", "RELU_N1_TO_1", "RELU6")


def _conv(table,
          name,
          image,
          filt,
          stride=(1, 1),
          dilation=(1, 1),
          padding="SAME",
          act="NONE",
          **kwargs):
    """image [n, h, w, c]; filt [out, h, w, in]; stride and dilation (h, w).

    LiteRT refuses a float CONV_2D or DEPTHWISE_CONV_2D whose bias is missing or -1.
    """
    inputs = [x(*image), c(*filt), c(filt[0])]
    table.add(name,
              inputs,
              padding=padding,
              stride_h=stride[0],
              stride_w=stride[1],
              dilation_h_factor=dilation[0],
              dilation_w_factor=dilation[1],
              act=act,
              **kwargs)


def conv_2d():
    t = Table("CONV_2D")
    for pad in ("SAME", "VALID"):
        p = pad.lower()
        _conv(t, f"3x3_{p}", (1, 5, 6, 3), (4, 3, 3, 3), padding=pad)
        _conv(t, f"3x3_{p}_stride2", (1, 7, 6, 3), (5, 3, 3, 3), padding=pad, stride=(2, 2))
        _conv(t, f"3x3_{p}_stride2_even", (1, 8, 8, 2), (3, 3, 3, 2), padding=pad, stride=(2, 2))
        _conv(t, f"stride_1x3_{p}", (1, 6, 9, 2), (3, 2, 3, 2), padding=pad, stride=(1, 3))
        _conv(t, f"stride_3x2_{p}", (1, 8, 7, 1), (2, 3, 2, 1), padding=pad, stride=(3, 2))
        _conv(t, f"dilation2_{p}", (1, 8, 7, 2), (3, 3, 3, 2), padding=pad, dilation=(2, 2))
        _conv(t, f"dilation_3x1_{p}", (1, 9, 5, 2), (2, 3, 3, 2), padding=pad, dilation=(3, 1))
        _conv(t,
              f"dilation2_stride2_{p}", (1, 9, 9, 1), (2, 3, 3, 1),
              padding=pad,
              dilation=(2, 2),
              stride=(2, 2))
        _conv(t, f"5x5_{p}", (1, 6, 7, 2), (3, 5, 5, 2), padding=pad)
        _conv(t, f"1x1_{p}", (1, 4, 5, 7), (9, 1, 1, 7), padding=pad)
        _conv(t, f"1x1_{p}_stride2", (1, 5, 4, 3), (4, 1, 1, 3), padding=pad, stride=(2, 2))
        _conv(t, f"1x7_{p}", (1, 3, 9, 2), (3, 1, 7, 2), padding=pad)
        _conv(t, f"7x1_{p}", (1, 9, 3, 2), (3, 7, 1, 2), padding=pad)
        _conv(t, f"2x2_{p}", (1, 5, 5, 3), (4, 2, 2, 3), padding=pad)
        _conv(t, f"grouped2_{p}", (1, 4, 4, 4), (6, 3, 3, 2), padding=pad)
    _conv(t, "batch3", (3, 4, 4, 3), (5, 3, 3, 3))
    _conv(t, "batch2_1x1", (2, 3, 3, 5), (6, 1, 1, 5))
    _conv(t, "batch2_stride2_valid", (2, 5, 5, 2), (3, 3, 3, 2), padding="VALID", stride=(2, 2))
    _conv(t, "kernel_is_image", (1, 4, 3, 3), (5, 4, 3, 3), padding="VALID")
    _conv(t, "kernel_larger_same", (1, 2, 2, 2), (3, 5, 5, 2))
    _conv(t, "one_pixel", (1, 1, 1, 8), (3, 1, 1, 8))
    _conv(t, "one_channel", (1, 5, 5, 1), (1, 3, 3, 1))
    _conv(t, "17_to_19", (1, 2, 3, 17), (19, 1, 1, 17))
    _conv(t, "16_to_32", (1, 2, 2, 16), (32, 1, 1, 16))
    _conv(t, "grouped3_1x1", (1, 3, 3, 6), (9, 1, 1, 2))
    _conv(t, "grouped_batch2_stride2", (2, 5, 5, 4), (4, 3, 3, 2), stride=(2, 2))
    _conv(t, "grouped_depthwise", (1, 4, 4, 3), (3, 3, 3, 1))
    for act in ACTS:
        _conv(t, f"act_{act.lower()}", (1, 5, 5, 3), (4, 3, 3, 3), act=act)
        _conv(t, f"act_{act.lower()}_1x1", (1, 3, 3, 6), (5, 1, 1, 6), act=act)
    t.add("filter_is_input", [x(1, 4, 4, 2), x(3, 3, 3, 2), x(3)],
          padding="SAME",
          stride_h=1,
          stride_w=1)
    t.add("bias_is_input", [x(1, 4, 4, 2), c(3, 3, 3, 2), x(3)],
          padding="SAME",
          stride_h=1,
          stride_w=1)
    _conv(t, "refuse_channels", (1, 4, 4, 3), (4, 3, 3, 2), refused=True)
    t.add("refuse_bias_length", [x(1, 4, 4, 2), c(3, 3, 3, 2), c(4)],
          padding="SAME",
          stride_h=1,
          stride_w=1,
          refused=True)
    return t


def _depthwise(table,
               name,
               image,
               kernel,
               multiplier=1,
               stride=(1, 1),
               dilation=(1, 1),
               padding="SAME",
               act="NONE",
               **kwargs):
    channels = image[3] * multiplier
    inputs = [x(*image), c(1, *kernel, channels), c(channels)]
    table.add(name,
              inputs,
              padding=padding,
              stride_h=stride[0],
              stride_w=stride[1],
              dilation_h_factor=dilation[0],
              dilation_w_factor=dilation[1],
              depth_multiplier=multiplier,
              act=act,
              **kwargs)


def depthwise_conv_2d():
    t = Table("DEPTHWISE_CONV_2D")
    for pad in ("SAME", "VALID"):
        p = pad.lower()
        _depthwise(t, f"3x3_{p}", (1, 5, 6, 3), (3, 3), padding=pad)
        _depthwise(t, f"3x3_{p}_stride2", (1, 7, 6, 5), (3, 3), padding=pad, stride=(2, 2))
        _depthwise(t, f"3x3_{p}_stride2_even", (1, 8, 8, 4), (3, 3), padding=pad, stride=(2, 2))
        _depthwise(t, f"multiplier2_{p}", (1, 4, 5, 3), (3, 3), 2, padding=pad)
        _depthwise(t, f"multiplier3_{p}", (1, 5, 4, 2), (3, 3), 3, padding=pad)
        _depthwise(t,
                   f"multiplier3_stride2_{p}", (1, 6, 6, 1), (3, 3),
                   3,
                   padding=pad,
                   stride=(2, 2))
        _depthwise(t, f"dilation2_{p}", (1, 7, 8, 3), (3, 3), padding=pad, dilation=(2, 2))
        _depthwise(t, f"dilation_1x3_{p}", (1, 5, 9, 2), (3, 3), padding=pad, dilation=(1, 3))
        _depthwise(t,
                   f"dilation2_multiplier2_{p}", (1, 7, 7, 2), (3, 3),
                   2,
                   padding=pad,
                   dilation=(2, 2))
        _depthwise(t, f"5x5_{p}", (1, 6, 7, 3), (5, 5), padding=pad)
        _depthwise(t, f"5x5_stride2_{p}", (1, 7, 8, 2), (5, 5), padding=pad, stride=(2, 2))
        _depthwise(t, f"2x4_{p}", (1, 5, 6, 3), (2, 4), padding=pad)
        _depthwise(t, f"stride_2x1_{p}", (1, 6, 5, 2), (3, 3), padding=pad, stride=(2, 1))
    _depthwise(t, "1x1", (1, 3, 4, 5), (1, 1))
    _depthwise(t, "1x1_multiplier2", (1, 3, 3, 3), (1, 1), 2)
    _depthwise(t, "7x1", (1, 8, 3, 3), (7, 1))
    _depthwise(t, "1x7", (1, 3, 8, 3), (1, 7))
    _depthwise(t, "batch3", (3, 4, 4, 3), (3, 3))
    _depthwise(t, "batch2_multiplier2_stride2", (2, 5, 5, 2), (3, 3), 2, stride=(2, 2))
    for channels in (1, 4, 7, 8, 16, 17, 33):
        _depthwise(t, f"channels_{channels}", (1, 3, 4, channels), (3, 3))
    _depthwise(t, "kernel_is_image", (1, 4, 3, 5), (4, 3), padding="VALID")
    _depthwise(t, "kernel_larger_same", (1, 2, 2, 3), (5, 5))
    _depthwise(t, "one_channel_to_8", (1, 5, 5, 1), (3, 3), 8)
    for act in ACTS:
        _depthwise(t, f"act_{act.lower()}", (1, 4, 5, 5), (3, 3), act=act)
    t.add("filter_is_input", [x(1, 4, 4, 2), x(1, 3, 3, 2), x(2)],
          padding="SAME",
          stride_h=1,
          stride_w=1,
          depth_multiplier=1)
    t.add("refuse_filter_channels",
          [x(1, 4, 4, 3), c(1, 3, 3, 4), c(4)],
          padding="SAME",
          stride_h=1,
          stride_w=1,
          depth_multiplier=1,
          refused=True)
    return t


def _transpose(table,
               name,
               image,
               filt,
               out_hw,
               bias=False,
               stride=(1, 1),
               padding="SAME",
               act="NONE",
               **kwargs):
    """image [n, h, w, in]; filt [out, h, w, in]."""
    inputs = [ci(image[0], *out_hw, filt[0]), c(*filt), x(*image)]
    if bias:
        inputs.append(c(filt[0]))
    table.add(name,
              inputs,
              padding=padding,
              stride_h=stride[0],
              stride_w=stride[1],
              act=act,
              **kwargs)


def transpose_conv():
    t = Table("TRANSPOSE_CONV")
    for bias in (False, True):
        b = "bias" if bias else "plain"
        _transpose(t, f"3x3_same_{b}", (1, 4, 5, 3), (2, 3, 3, 3), (4, 5), bias)
        _transpose(t, f"3x3_same_stride2_{b}", (1, 3, 4, 3), (2, 3, 3, 3), (6, 8), bias, (2, 2))
        _transpose(t, f"3x3_same_stride2_odd_{b}", (1, 3, 4, 2), (3, 3, 3, 2), (5, 7), bias, (2, 2))
        _transpose(t, f"3x3_valid_{b}", (1, 3, 3, 2), (3, 3, 3, 2), (5, 5), bias, padding="VALID")
        _transpose(t, f"3x3_valid_stride2_{b}", (1, 3, 2, 3), (4, 3, 3, 3), (7, 5), bias, (2, 2),
                   "VALID")
        _transpose(t, f"2x2_stride2_{b}", (1, 3, 4, 5), (3, 2, 2, 5), (6, 8), bias, (2, 2), "VALID")
        _transpose(t, f"4x4_same_stride2_{b}", (1, 3, 3, 2), (2, 4, 4, 2), (6, 6), bias, (2, 2))
        _transpose(t, f"batch2_{b}", (2, 3, 3, 2), (3, 3, 3, 2), (6, 6), bias, (2, 2))
    _transpose(t, "valid_larger_output", (1, 3, 3, 2), (2, 3, 3, 2), (8, 8), False, (2, 2), "VALID")
    _transpose(t, "stride_1x2", (1, 3, 3, 2), (3, 3, 3, 2), (3, 6), False, (1, 2))
    _transpose(t, "stride3_kernel2", (1, 3, 2, 2), (3, 2, 2, 2), (9, 6), True, (3, 3))
    _transpose(t, "1x1", (1, 3, 3, 4), (5, 1, 1, 4), (3, 3))
    _transpose(t, "1x1_stride2", (1, 3, 3, 2), (2, 1, 1, 2), (6, 6), True, (2, 2))
    _transpose(t, "one_pixel", (1, 1, 1, 7), (3, 4, 4, 7), (4, 4), False, (1, 1), "VALID")
    _transpose(t, "5x3", (1, 4, 3, 1), (1, 5, 3, 1), (8, 6), False, (2, 2))
    _transpose(t, "17_channels", (1, 2, 2, 17), (5, 2, 2, 17), (4, 4), True, (2, 2))
    for act in ("RELU", "RELU6", "RELU_N1_TO_1"):
        _transpose(t,
                   f"act_{act.lower()}", (1, 3, 3, 3), (2, 3, 3, 3), (6, 6),
                   True, (2, 2),
                   act=act)
    t.add("shape_is_input",
          [x(values=[1, 6, 6, 2], dtype="int32"),
           c(2, 3, 3, 2), x(1, 3, 3, 2)],
          padding="SAME",
          stride_h=2,
          stride_w=2)
    _transpose(t,
               "refuse_channels", (1, 3, 3, 3), (2, 3, 3, 2), (6, 6),
               False, (2, 2),
               refused=True)
    return t


def _full(table, name, shape, weights, bias=True, **kwargs):
    inputs = [x(*shape), c(*weights), c(weights[0]) if bias else None]
    table.add(name, inputs, **kwargs)


def fully_connected():
    t = Table("FULLY_CONNECTED")
    _full(t, "rank1", (7,), (3, 7))
    _full(t, "rank2", (1, 7), (3, 7))
    _full(t, "rank3", (2, 3, 5), (4, 5))
    _full(t, "rank4", (1, 2, 2, 5), (3, 5))
    _full(t, "rank4_flattened", (2, 2, 2, 3), (4, 12))
    _full(t, "rank3_flattened", (2, 3, 4), (5, 12))
    _full(t, "rank2_to_one_row", (2, 6), (3, 12))
    for rank, shape in ((1, (6,)), (2, (3, 6)), (3, (2, 3, 6)), (4, (2, 1, 3, 6))):
        _full(t, f"keep_dims_rank{rank}", shape, (4, 6), keep_num_dims=True)
    _full(t, "keep_dims_no_bias", (2, 2, 5), (3, 5), bias=False, keep_num_dims=True)
    for batch in (1, 2, 3, 4, 5, 8, 9):
        _full(t, f"batch{batch}", (batch, 11), (6, 11))
    _full(t, "no_bias", (2, 8), (5, 8), bias=False)
    t.add("bias_missing", [x(2, 8), c(5, 8)])
    for act in ACTS:
        _full(t, f"act_{act.lower()}", (2, 9), (7, 9), act=act)
        _full(t, f"act_{act.lower()}_batch5", (5, 3), (4, 3), act=act)
    for depth, units in ((1, 1), (1, 9), (9, 1), (16, 16), (17, 33), (31, 10), (64, 5)):
        _full(t, f"{depth}_to_{units}", (2, depth), (units, depth))
    t.add("weights_are_input", [x(3, 5), x(4, 5), x(4)])
    t.add("weights_are_input_no_bias", [x(3, 5), x(4, 5), None])
    t.add("bias_is_input", [x(3, 5), c(4, 5), x(4)])
    _full(t, "empty_batch", (0, 5), (4, 5))
    # LiteRT runs an input of 10 elements on weights of depth 4 and ignores the last two.
    return t


def tables():
    return [conv_2d(), depthwise_conv_2d(), transpose_conv(), fully_connected()]
