package org.topwork.tflite;

import java.util.function.Supplier;
import org.topwork.TopworkException;

/** Turns the library's exceptions into those that code for org.tensorflow.lite expects. */
final class Failures {
  private Failures() {}

  static <T> T translated(Supplier<T> call) {
    try {
      return call.get();
    } catch (TopworkException.InvalidArgument
        | TopworkException.InvalidModel
        | TopworkException.Unsupported
        | TopworkException.NotFound
        | TopworkException.Io e) {
      throw new IllegalArgumentException(e.getMessage(), e);
    } catch (TopworkException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  static void translated(Runnable call) {
    translated(
        () -> {
          call.run();
          return null;
        });
  }
}
