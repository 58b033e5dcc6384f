package org.topwork;

import java.nio.ByteBuffer;
import java.util.Objects;

/** Labelled examples for a {@link Trainer}, in memory or read one by one. */
public final class Examples {
  // The native code reads these fields.
  final long count;
  final ByteBuffer data;
  final long[] labels;
  final ExampleReader reader;
  ProgressListener progress;
  ByteBuffer[] inputs;

  /** Is told how many examples were done. */
  @FunctionalInterface
  public interface ProgressListener {
    /** Returns whether to go on; false ends the call with {@code Cancelled}. */
    boolean onExamples(long done, long total);
  }

  private Examples(long count, ByteBuffer data, long[] labels, ExampleReader reader) {
    this.count = count;
    this.data = data;
    this.labels = labels;
    this.reader = reader;
  }

  /**
   * Returns {@code labels.length} examples that lie one after the other from the buffer's position
   * on, each as {@link Trainer#inputInfo} says.
   *
   * @param data a direct buffer, which is used in place
   * @param labels the class of each, 0 to the number of classes - 1
   * @throws IllegalArgumentException if the buffer is not direct
   */
  public static Examples of(ByteBuffer data, long... labels) {
    return new Examples(labels.length, Topwork.direct(data), labels.clone(), null);
  }

  /**
   * Returns {@code count} examples that the reader reads on the thread of the call.
   *
   * @throws IllegalArgumentException if count is negative
   */
  public static Examples read(long count, ExampleReader reader) {
    if (count < 0) {
      throw new IllegalArgumentException("there cannot be " + count + " examples");
    }
    return new Examples(count, null, null, Objects.requireNonNull(reader, "reader"));
  }

  /** Sets who is told after each batch, on the thread of the call, and returns this. */
  public Examples onProgress(ProgressListener listener) {
    this.progress = listener;
    return this;
  }

  /** The native code calls it: reads example index into its buffers. */
  long readExample(long index) {
    for (ByteBuffer input : inputs) {
      input.clear();
    }
    return reader.read(index, inputs);
  }

  /** The native code calls it. */
  boolean goesOn(long done, long total) {
    return progress == null || progress.onExamples(done, total);
  }
}
