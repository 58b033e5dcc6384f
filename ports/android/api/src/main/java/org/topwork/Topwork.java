package org.topwork;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The native library: its version, and memory that it can work on in place. */
public final class Topwork {
  static {
    System.loadLibrary("topwork_jni");
  }

  /** Buffers begin at multiples of so many bytes: OpenCL devices read such buffers in place. */
  private static final int ALIGNMENT = 64;

  private Topwork() {}

  /** Returns the version of the native library, "0.1.0". */
  public static String version() {
    return Utf8.string(nativeVersion());
  }

  /**
   * Makes a direct buffer of {@code bytes} zeros, in the processor's byte order, aligned to 64
   * bytes. The garbage collector frees it.
   *
   * @throws IllegalArgumentException if bytes is negative or above 2 GiB
   */
  public static ByteBuffer allocate(long bytes) {
    if (bytes < 0 || bytes > Integer.MAX_VALUE - ALIGNMENT) {
      throw new IllegalArgumentException("a buffer cannot have " + bytes + " bytes");
    }
    ByteBuffer whole = ByteBuffer.allocateDirect((int) bytes + ALIGNMENT - 1);
    int start = (int) (-nativeAddress(whole) & (ALIGNMENT - 1));
    whole.position(start).limit(start + (int) bytes);
    return whole.slice().order(ByteOrder.nativeOrder());
  }

  /**
   * Returns what lies between position and limit as a buffer of its own, without a copy.
   *
   * @throws IllegalArgumentException if the buffer is not direct
   */
  static ByteBuffer direct(ByteBuffer buffer) {
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(
          "the buffer is not direct: make it by Topwork.allocate or ByteBuffer.allocateDirect");
    }
    return buffer.slice();
  }

  /** Loads the library; classes with native methods call it first. */
  static void load() {}

  private static native byte[] nativeVersion();

  private static native long nativeAddress(ByteBuffer buffer);
}
