package org.topwork.tflite;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.topwork.Session;

/**
 * The shapes of a session's inputs, which are those that were asked for as soon as they were. The
 * session itself shows them once it was prepared.
 */
final class Inputs {
  private final Session session;
  private final Map<Integer, int[]> asked = new HashMap<>();

  Inputs(Session session) {
    this.session = session;
  }

  /** Asks for a shape, which holds from the next {@link #prepare} on. */
  void resize(int index, int[] shape) {
    session.resizeInput(index, shape);
    asked.put(index, shape.clone());
  }

  /** Resizes only where the shape is another one. */
  void resizeIfDifferent(int index, int[] shape) {
    if (!Arrays.equals(shape, shape(index))) {
      resize(index, shape);
    }
  }

  /** Returns the shape that was asked for, or the session's if none was. */
  int[] shape(int index) {
    int[] shape = asked.get(index);
    return shape == null ? session.inputInfo(index).shape() : shape.clone();
  }

  /** Plans anew after a resize. If the model cannot take the shapes, those before are back. */
  void prepare() {
    asked.clear();
    session.prepare();
  }
}
