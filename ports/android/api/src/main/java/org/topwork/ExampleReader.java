package org.topwork;

import java.nio.ByteBuffer;

/** Reads labelled examples one by one. */
@FunctionalInterface
public interface ExampleReader {
  /**
   * Writes example {@code index} and returns its class.
   *
   * @param index from 0 on, in order
   * @param inputs a buffer for each input of the model, with the size and type of {@link
   *     Trainer#inputInfo}; they are used again for the next example
   */
  long read(long index, ByteBuffer[] inputs);
}
