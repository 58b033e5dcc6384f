package org.topwork;

/** The type of a tensor's elements. Ordinals are the numbers of {@code tw_dtype}. */
public enum DataType {
  FLOAT32(32),
  FLOAT16(16),
  INT32(32),
  UINT8(8),
  INT64(64),
  STRING(0),
  BOOL(8),
  INT16(16),
  COMPLEX64(64),
  INT8(8),
  FLOAT64(64),
  COMPLEX128(128),
  UINT64(64),
  RESOURCE(0),
  VARIANT(0),
  UINT32(32),
  UINT16(16),
  INT4(4),
  BFLOAT16(16),
  INT2(2),
  UINT4(4);

  private static final DataType[] VALUES = values();
  private final int bits;

  DataType(int bits) {
    this.bits = bits;
  }

  /** Returns the bits of an element; 0 for strings, resources and variants. */
  public int bits() {
    return bits;
  }

  /** Returns the type of a {@code tw_dtype}. */
  static DataType of(int dtype) {
    return VALUES[dtype];
  }
}
