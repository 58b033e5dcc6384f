package org.topwork;

import java.util.Arrays;

/** What an input or output looks like. The values are not part of it. */
public final class TensorInfo {
  private final String name;
  private final DataType dataType;
  private final int[] shape;
  private final int[] openShape;
  private final long bytes;
  private final float[] scales;
  private final long[] zeroPoints;
  private final int quantizedAxis;
  private final boolean hasMemory;

  /** The native code calls it. */
  TensorInfo(
      byte[] name,
      int dataType,
      int[] shape,
      int[] openShape,
      long bytes,
      float[] scales,
      long[] zeroPoints,
      int quantizedAxis,
      boolean hasMemory) {
    this.name = Utf8.string(name);
    this.dataType = DataType.of(dataType);
    this.shape = shape;
    this.openShape = openShape;
    this.bytes = bytes;
    this.scales = scales;
    this.zeroPoints = zeroPoints;
    this.quantizedAxis = quantizedAxis;
    this.hasMemory = hasMemory;
  }

  /** Returns the signature's name for it if a signature was chosen, else the tensor's own. */
  public String name() {
    return name;
  }

  /** Returns the type of its elements. */
  public DataType dataType() {
    return dataType;
  }

  /** Returns a copy of its dimensions, the outermost first; an empty array for a scalar. */
  public int[] shape() {
    return shape.clone();
  }

  /** Returns the same with -1 where the model leaves the size open for a resize. */
  public int[] openShape() {
    return openShape.clone();
  }

  /** Returns the size of its values in bytes; 0 for strings. */
  public long bytes() {
    return bytes;
  }

  /** Returns the number of its elements. */
  public long elements() {
    long elements = 1;
    for (int dimension : shape) {
      elements *= dimension;
    }
    return elements;
  }

  /** Tells whether its numbers stand for {@code scale * (stored - zeroPoint)}. */
  public boolean isQuantized() {
    return scales.length > 0;
  }

  /** Returns its scales: none if it is not quantized, one, or one for each slice of the axis. */
  public float[] scales() {
    return scales.clone();
  }

  /** Returns as many zero points as there are scales. */
  public long[] zeroPoints() {
    return zeroPoints.clone();
  }

  /** Returns the dimension that several scales belong to. */
  public int quantizedAxis() {
    return quantizedAxis;
  }

  /** Whether its size was known before the first run. */
  boolean hasMemory() {
    return hasMemory;
  }

  /** Returns "name float32 [1, 224, 224, 3]". */
  @Override
  public String toString() {
    String type = dataType.name().toLowerCase(java.util.Locale.ROOT);
    return name + " " + type + " " + Arrays.toString(shape);
  }
}
