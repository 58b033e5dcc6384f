package org.topwork;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Enumeration;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/** Models, golden answers and labelled digits of the repository. */
public final class TestFiles {
  private TestFiles() {}

  /** A file of the repository. */
  public static File file(String path) {
    return new File(System.getProperty("topwork.root"), path);
  }

  /** Model of 8 x 8 digits, [1, 8, 8, 1], to ten probabilities. */
  public static File digits() {
    return file("models/zoo/digits_cnn_f32.tflite");
  }

  /** A small model of tests/data/api. */
  public static File small(String name) {
    return file("tests/data/api/" + name + ".tflite");
  }

  /** The bytes of a file. */
  public static byte[] bytes(File file) throws IOException {
    return Files.readAllBytes(file.toPath());
  }

  /** The bytes in a direct buffer. */
  public static ByteBuffer direct(byte[] bytes) {
    ByteBuffer buffer = Topwork.allocate(bytes.length);
    buffer.put(bytes).rewind();
    return buffer;
  }

  /** The values of a .npy file. */
  public static ByteBuffer npy(byte[] file) {
    ByteBuffer all = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    all.position(10 + all.getShort(8));
    byte[] values = new byte[all.remaining()];
    all.get(values);
    return direct(values);
  }

  /** The arrays of a .npz file of tests/data/zoo: in_0_0, ref_0_0 and so on. */
  public static Map<String, ByteBuffer> golden(String model) throws IOException {
    Map<String, ByteBuffer> arrays = new HashMap<>();
    try (ZipFile zip = new ZipFile(file("tests/data/zoo/" + model + ".npz"))) {
      Enumeration<? extends ZipEntry> entries = zip.entries();
      while (entries.hasMoreElements()) {
        ZipEntry entry = entries.nextElement();
        arrays.put(entry.getName().replace(".npy", ""), npy(read(zip.getInputStream(entry))));
      }
    }
    return arrays;
  }

  private static byte[] read(InputStream stream) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] part = new byte[65536];
    for (int n = stream.read(part); n > 0; n = stream.read(part)) {
      bytes.write(part, 0, n);
    }
    return bytes.toByteArray();
  }

  /** Digits of 8 x 8 pixels with their classes. */
  public static final class Digits {
    /** float32 [n, 8, 8, 1], 0 to 1. */
    public final ByteBuffer pixels;

    /** The class of each. */
    public final long[] labels;

    Digits(ByteBuffer pixels, long[] labels) {
      this.pixels = pixels;
      this.labels = labels;
    }

    /** Reads all digits of "train" or "test" below {@code classes}. */
    public static Digits read(String part, int classes) throws IOException {
      ByteBuffer x = npy(bytes(file("models/zoo/data/digits_8x8/" + part + "/x.npy")));
      ByteBuffer y = npy(bytes(file("models/zoo/data/digits_8x8/" + part + "/y.npy")));
      ByteBuffer pixels = Topwork.allocate(x.capacity());
      long[] labels = new long[y.capacity() / 8];
      int n = 0;
      for (int i = 0; i < labels.length; i++) {
        if (y.getLong(8 * i) < classes) {
          labels[n++] = y.getLong(8 * i);
          x.limit(256 * (i + 1)).position(256 * i);
          pixels.put(x);
        }
      }
      pixels.flip();
      return new Digits(pixels, java.util.Arrays.copyOf(labels, n));
    }

    /** The digits as examples. */
    public Examples examples() {
      return Examples.of(pixels, labels);
    }
  }

  /** The text as UTF-8. */
  public static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
