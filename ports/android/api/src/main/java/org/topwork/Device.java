package org.topwork;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/** A device of this machine that models can run on. */
public final class Device {
  static {
    Topwork.load();
  }

  private final String[] texts;
  private final long[] numbers;

  /** The native code calls it; the order of texts and numbers is that of device.cc. */
  Device(byte[][] texts, long[] numbers) {
    this.texts = Utf8.strings(texts).toArray(new String[0]);
    this.numbers = numbers;
  }

  /**
   * Returns the CPU, which comes first, and every OpenCL device, usable or not. Where there is no
   * OpenCL, a device "opencl" that is not usable says why. The first call asks the drivers, which
   * takes time.
   */
  public static List<Device> all() {
    return Collections.unmodifiableList(Arrays.asList(nativeAll()));
  }

  /** Returns the text that names it in options, "cpu" or "opencl:0". */
  public String id() {
    return texts[0];
  }

  /** Returns its name, "Mali-G710". */
  public String name() {
    return texts[1];
  }

  /** Returns its vendor; "" for the CPU. */
  public String vendor() {
    return texts[2];
  }

  /** Returns the driver's version; "" for the CPU. */
  public String driver() {
    return texts[3];
  }

  /** Returns "cpu", "gpu", "accelerator" or "other"; OpenCL offers CPUs as well. */
  public String type() {
    return texts[4];
  }

  /** Returns the instruction set that the CPU's kernels use; "" for other devices. */
  public String instructionSet() {
    return texts[5];
  }

  /** Returns why it is not usable; "" if it is. */
  public String reason() {
    return texts[6];
  }

  /** Tells whether a session can run on it. */
  public boolean isUsable() {
    return numbers[0] != 0;
  }

  /** Tells whether it computes with float16. */
  public boolean hasFloat16() {
    return numbers[1] != 0;
  }

  /** Returns its processors. */
  public int computeUnits() {
    return (int) numbers[2];
  }

  /** Returns its memory in bytes; 0 if unknown. */
  public long memoryBytes() {
    return numbers[3];
  }

  /** Returns "opencl:0 Mali-G710". */
  @Override
  public String toString() {
    return id() + " " + name();
  }

  private static native Device[] nativeAll();
}
