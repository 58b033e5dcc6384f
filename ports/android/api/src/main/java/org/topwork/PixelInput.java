package org.topwork;

import android.graphics.Bitmap;
import java.nio.ByteBuffer;

/**
 * Writes pictures into a model's input of shape [1, height, width, 1 or 3]. The centre of a picture
 * is cut out in the input's proportions and scaled by averaging; values are (pixel - mean) / std,
 * in the input's type. Not to be used by two threads at once.
 */
public final class PixelInput {
  private final int width;
  private final int height;
  private final int channels;
  private final boolean isFloat;
  private final float[][] floats; // by channel and pixel value, as the next
  private final byte[][] bytes;
  private int[] pixels = {};

  /**
   * Makes one for an input.
   *
   * @param input float32, int8 or uint8
   * @param mean what is subtracted from pixels of 0 to 255: one finite number, one for each
   *     channel, or none for pixels as they are. {@link ModelInfo#inputMean} has them if the
   *     metadata does
   * @param std what pixels are divided by then; as many numbers, finite and above 0
   * @throws IllegalArgumentException if the input does not take pictures, or if mean and std are no
   *     such numbers
   */
  public PixelInput(TensorInfo input, float[] mean, float[] std) {
    int[] shape = input.shape();
    if (shape.length != 4 || shape[0] != 1 || (shape[3] != 1 && shape[3] != 3)) {
      throw new IllegalArgumentException("not [1, height, width, 1 or 3]: " + input);
    }
    DataType type = input.dataType();
    if (type != DataType.FLOAT32 && type != DataType.INT8 && type != DataType.UINT8) {
      throw new IllegalArgumentException("not float32, int8 or uint8: " + input);
    }
    height = shape[1];
    width = shape[2];
    channels = shape[3];
    isFloat = type == DataType.FLOAT32;
    floats = new float[channels][256];
    bytes = new byte[channels][256];
    checkScale(mean, std, channels);
    for (int c = 0; c < channels; c++) {
      for (int pixel = 0; pixel < 256; pixel++) {
        int k = mean.length > 1 ? c : 0;
        floats[c][pixel] = mean.length == 0 ? pixel : (pixel - mean[k]) / std[k];
        bytes[c][pixel] = stored(input, pixel, floats[c][pixel], mean.length == 0);
      }
    }
  }

  private static void checkScale(float[] mean, float[] std, int channels) {
    if (mean.length != std.length || (mean.length > 1 && mean.length != channels)) {
      throw new IllegalArgumentException("mean and std need one number, or one for each channel");
    }
    for (int i = 0; i < mean.length; i++) {
      boolean isMean = !Float.isNaN(mean[i]) && !Float.isInfinite(mean[i]);
      boolean isStd = std[i] > 0 && !Float.isInfinite(std[i]); // NaN is not above 0
      if (!isMean || !isStd) {
        throw new IllegalArgumentException(
            "mean must be finite, std finite and above 0: mean " + mean[i] + ", std " + std[i]);
      }
    }
  }

  /**
   * Writes a bitmap of any size.
   *
   * @param rotation degrees that the bitmap is turned clockwise to stand upright: 0, 90, 180, 270
   * @param input the model's input, as {@link Session#input} gives it; it is written from the start
   */
  public void write(Bitmap bitmap, int rotation, ByteBuffer input) {
    int size = bitmap.getWidth() * bitmap.getHeight();
    if (pixels.length < size) {
      pixels = new int[size];
    }
    bitmap.getPixels(pixels, 0, bitmap.getWidth(), 0, 0, bitmap.getWidth(), bitmap.getHeight());
    write(pixels, bitmap.getWidth(), bitmap.getHeight(), rotation, input);
  }

  /**
   * Writes pixels.
   *
   * @param argb rows of {@code 0xAARRGGBB}, without gaps; alpha is not looked at
   * @param rotation degrees that the picture is turned clockwise to stand upright
   * @param input as above
   * @throws IllegalArgumentException for another rotation or an empty picture
   */
  public void write(int[] argb, int columns, int rows, int rotation, ByteBuffer input) {
    if (rotation % 90 != 0 || rotation < 0 || rotation > 270 || columns < 1 || rows < 1) {
      throw new IllegalArgumentException(
          "no picture: " + columns + " x " + rows + ", turned by " + rotation);
    }
    boolean isTurned = rotation % 180 != 0;
    int uprightColumns = isTurned ? rows : columns;
    int uprightRows = isTurned ? columns : rows;
    // The largest part of the input's proportions.
    long wide = Math.min(uprightColumns, (long) uprightRows * width / height);
    long high = Math.min(uprightRows, (long) uprightColumns * height / width);
    int left = (int) (uprightColumns - wide) / 2;
    int top = (int) (uprightRows - high) / 2;
    input.clear();
    for (int y = 0; y < height; y++) {
      int y0 = top + (int) (y * high / height);
      int y1 = Math.max(y0 + 1, top + (int) ((y + 1) * high / height));
      for (int x = 0; x < width; x++) {
        int x0 = left + (int) (x * wide / width);
        int x1 = Math.max(x0 + 1, left + (int) ((x + 1) * wide / width));
        put(average(argb, columns, rows, rotation, x0, x1, y0, y1), input);
      }
    }
    input.rewind();
  }

  private static byte stored(TensorInfo input, int pixel, float value, boolean isPlain) {
    boolean isSigned = input.dataType() == DataType.INT8;
    if (isPlain || !input.isQuantized()) {
      return (byte) (isSigned ? pixel - 128 : pixel);
    }
    long stored = Math.round((double) value / input.scales()[0]) + input.zeroPoints()[0];
    return (byte) Math.max(isSigned ? -128 : 0, Math.min(isSigned ? 127 : 255, stored));
  }

  /** Returns the mean colour of the upright picture's pixels [x0, x1) x [y0, y1). */
  private static int average(
      int[] argb, int columns, int rows, int rotation, int x0, int x1, int y0, int y1) {
    int red = 0;
    int green = 0;
    int blue = 0;
    for (int y = y0; y < y1; y++) {
      for (int x = x0; x < x1; x++) {
        int pixel = argb[place(columns, rows, rotation, x, y)];
        red += (pixel >> 16) & 255;
        green += (pixel >> 8) & 255;
        blue += pixel & 255;
      }
    }
    int n = (x1 - x0) * (y1 - y0);
    return (red + n / 2) / n << 16 | (green + n / 2) / n << 8 | (blue + n / 2) / n;
  }

  /** Returns where the upright picture's pixel (x, y) lies. */
  private static int place(int columns, int rows, int rotation, int x, int y) {
    switch (rotation) {
      case 90:
        return (rows - 1 - x) * columns + y;
      case 180:
        return (rows - 1 - y) * columns + columns - 1 - x;
      case 270:
        return x * columns + columns - 1 - y;
      default:
        return y * columns + x;
    }
  }

  private void put(int rgb, ByteBuffer input) {
    if (channels == 1) {
      int red = rgb >> 16;
      int green = (rgb >> 8) & 255;
      int blue = rgb & 255;
      putChannel(0, (299 * red + 587 * green + 114 * blue + 500) / 1000, input); // ITU-R BT.601
      return;
    }
    putChannel(0, rgb >> 16, input);
    putChannel(1, (rgb >> 8) & 255, input);
    putChannel(2, rgb & 255, input);
  }

  private void putChannel(int channel, int value, ByteBuffer input) {
    if (isFloat) {
      input.putFloat(floats[channel][value]);
    } else {
      input.put(bytes[channel][value]);
    }
  }
}
