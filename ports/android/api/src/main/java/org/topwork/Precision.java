package org.topwork;

/** How floats are stored and multiplied. Ordinals are the numbers of {@code tw_precision}. */
public enum Precision {
  /** 32 bits. */
  FLOAT32,
  /** 16 bits where the device, or the processor, can. */
  FLOAT16,
  /** 16 bits on a GPU where that is faster and agrees with the CPU, tried once; else 32. */
  AUTO
}
