package org.topwork.tflite;

import java.lang.reflect.Array;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.topwork.DataType;
import org.topwork.Session;
import org.topwork.TensorInfo;

/** Copies between a session's tensors and arrays of any number of dimensions, or buffers. */
final class Values {
  private Values() {}

  /** Resizes an input to the shape of an array; a buffer leaves it as it is. */
  static void resizeIfDifferent(Inputs inputs, int index, Object value) {
    if (value == null) {
      throw new IllegalArgumentException("input " + index + " is null");
    }
    if (!(value instanceof Buffer)) {
      inputs.resizeIfDifferent(index, shapeOf(value));
    }
  }

  /** Copies an array, a boxed number or a whole buffer into an input. */
  static void write(Session session, int index, Object value) {
    TensorInfo info = session.inputInfo(index);
    if (info.dataType() == DataType.STRING) {
      List<String> texts = new ArrayList<>();
      collect(value, texts);
      session.writeStrings(index, texts);
      return;
    }
    ByteBuffer input = session.input(index);
    if (value instanceof Buffer) {
      long bytes = (long) ((Buffer) value).capacity() * elementBytes(value);
      if (bytes != info.bytes()) {
        throw new IllegalArgumentException(
            "input " + index + " " + info + " has " + info.bytes() + " bytes, the buffer " + bytes);
      }
      put(input, value);
      return;
    }
    checkType(info, value);
    if (value.getClass().isArray()) {
      writeArray(input, value);
    } else {
      writeArray(input, boxedAsArray(value));
    }
  }

  /** Copies an output into an array or, from its position on, a buffer; null: nothing is copied. */
  static void read(Session session, int index, Object value) {
    TensorInfo info = session.outputInfo(index);
    if (value == null) {
      return;
    }
    if (info.dataType() == DataType.STRING) {
      distribute(session.readStrings(index), value, 0);
      return;
    }
    ByteBuffer output = session.output(index);
    if (value instanceof Buffer) {
      long bytes = (long) ((Buffer) value).remaining() * elementBytes(value);
      if (bytes < info.bytes()) {
        throw new IllegalArgumentException(
            "output "
                + index
                + " "
                + info
                + " has "
                + info.bytes()
                + " bytes, the buffer "
                + bytes);
      }
      take(output, value);
      return;
    }
    checkType(info, value);
    if (!Arrays.equals(shapeOf(value), info.shape())) {
      throw new IllegalArgumentException(
          "output "
              + index
              + " "
              + info
              + " does not fit shape "
              + Arrays.toString(shapeOf(value)));
    }
    readArray(output, value);
  }

  /** Refuses a shape that differs where the model leaves nothing open. */
  static void checkOpen(TensorInfo info, int[] shape) {
    int[] open = info.openShape();
    boolean fits = open.length == shape.length;
    for (int i = 0; fits && i < shape.length; i++) {
      fits = open[i] == -1 || open[i] == shape[i];
    }
    if (!fits) {
      throw new IllegalArgumentException(
          Arrays.toString(shape) + " does not fit " + Arrays.toString(open) + " of " + info);
    }
  }

  private static int[] shapeOf(Object value) {
    List<Integer> shape = new ArrayList<>();
    for (Object part = value; part != null && part.getClass().isArray(); ) {
      int length = Array.getLength(part);
      if (length == 0) {
        throw new IllegalArgumentException("an array has no elements");
      }
      shape.add(length);
      part = part instanceof Object[] ? ((Object[]) part)[0] : null;
    }
    return shape.stream().mapToInt(Integer::intValue).toArray();
  }

  private static void checkType(TensorInfo info, Object value) {
    Class<?> type = value.getClass();
    while (type.isArray()) {
      type = type.getComponentType();
    }
    boolean isBoxes = value.getClass().isArray() && !type.isPrimitive();
    if (isBoxes || !fits(info.dataType(), type)) {
      throw new IllegalArgumentException(info + " does not take values of type " + type.getName());
    }
  }

  private static boolean fits(DataType wanted, Class<?> type) {
    switch (wanted) {
      case FLOAT32:
        return type == float.class || type == Float.class;
      case INT32:
        return type == int.class || type == Integer.class;
      case INT64:
        return type == long.class || type == Long.class;
      case INT16:
        return type == short.class || type == Short.class;
      case INT8:
      case UINT8:
        return type == byte.class || type == Byte.class;
      case BOOL:
        return type == boolean.class || type == Boolean.class;
      default:
        return false;
    }
  }

  private static Object boxedAsArray(Object value) {
    if (value instanceof Float) {
      return new float[] {(Float) value};
    } else if (value instanceof Integer) {
      return new int[] {(Integer) value};
    } else if (value instanceof Long) {
      return new long[] {(Long) value};
    } else if (value instanceof Short) {
      return new short[] {(Short) value};
    } else if (value instanceof Byte) {
      return new byte[] {(Byte) value};
    }
    return new boolean[] {(Boolean) value};
  }

  private static void writeArray(ByteBuffer to, Object array) {
    if (array instanceof Object[]) {
      int[] shape = shapeOf(array);
      for (Object part : (Object[]) array) {
        if (!Arrays.equals(shapeOf(part), Arrays.copyOfRange(shape, 1, shape.length))) {
          throw new IllegalArgumentException("the array's parts differ in length");
        }
        writeArray(to, part);
      }
    } else if (array instanceof float[]) {
      put(to, FloatBuffer.wrap((float[]) array));
    } else if (array instanceof int[]) {
      put(to, IntBuffer.wrap((int[]) array));
    } else if (array instanceof long[]) {
      put(to, LongBuffer.wrap((long[]) array));
    } else if (array instanceof short[]) {
      put(to, ShortBuffer.wrap((short[]) array));
    } else if (array instanceof byte[]) {
      to.put((byte[]) array);
    } else {
      for (boolean flag : (boolean[]) array) {
        to.put((byte) (flag ? 1 : 0));
      }
    }
  }

  private static void readArray(ByteBuffer from, Object array) {
    if (array == null) {
      throw new IllegalArgumentException("a part of an output's array is null");
    } else if (array instanceof Object[]) {
      for (Object part : (Object[]) array) {
        readArray(from, part);
      }
    } else if (array instanceof float[]) {
      take(from, FloatBuffer.wrap((float[]) array));
    } else if (array instanceof int[]) {
      take(from, IntBuffer.wrap((int[]) array));
    } else if (array instanceof long[]) {
      take(from, LongBuffer.wrap((long[]) array));
    } else if (array instanceof short[]) {
      take(from, ShortBuffer.wrap((short[]) array));
    } else if (array instanceof byte[]) {
      from.get((byte[]) array);
    } else {
      boolean[] flags = (boolean[]) array;
      for (int i = 0; i < flags.length; i++) {
        flags[i] = from.get() != 0;
      }
    }
  }

  private static int elementBytes(Object buffer) {
    if (buffer instanceof ByteBuffer) {
      return 1;
    } else if (buffer instanceof ShortBuffer) {
      return 2;
    } else if (buffer instanceof FloatBuffer || buffer instanceof IntBuffer) {
      return 4;
    } else if (buffer instanceof LongBuffer) {
      return 8;
    }
    throw new IllegalArgumentException("not supported: " + buffer.getClass().getName());
  }

  /** Puts all of a buffer, whatever its position, and moves on. */
  private static void put(ByteBuffer to, Object buffer) {
    int start = to.position();
    if (buffer instanceof ByteBuffer) {
      to.put((ByteBuffer) ((ByteBuffer) buffer).duplicate().clear());
      return;
    } else if (buffer instanceof FloatBuffer) {
      to.asFloatBuffer().put((FloatBuffer) ((FloatBuffer) buffer).duplicate().clear());
    } else if (buffer instanceof IntBuffer) {
      to.asIntBuffer().put((IntBuffer) ((IntBuffer) buffer).duplicate().clear());
    } else if (buffer instanceof LongBuffer) {
      to.asLongBuffer().put((LongBuffer) ((LongBuffer) buffer).duplicate().clear());
    } else {
      to.asShortBuffer().put((ShortBuffer) ((ShortBuffer) buffer).duplicate().clear());
    }
    to.position(start + ((Buffer) buffer).capacity() * elementBytes(buffer));
  }

  /** Fills a buffer from its position on with what `from` has left, and moves both on. */
  private static void take(ByteBuffer from, Object buffer) {
    int elements = Math.min(((Buffer) buffer).remaining(), from.remaining() / elementBytes(buffer));
    ByteBuffer part = from.duplicate().order(from.order());
    part.limit(from.position() + elements * elementBytes(buffer));
    from.position(part.limit());
    if (buffer instanceof ByteBuffer) {
      ((ByteBuffer) buffer).put(part);
    } else if (buffer instanceof FloatBuffer) {
      ((FloatBuffer) buffer).put(part.asFloatBuffer());
    } else if (buffer instanceof IntBuffer) {
      ((IntBuffer) buffer).put(part.asIntBuffer());
    } else if (buffer instanceof LongBuffer) {
      ((LongBuffer) buffer).put(part.asLongBuffer());
    } else {
      ((ShortBuffer) buffer).put(part.asShortBuffer());
    }
  }

  private static void collect(Object value, List<String> texts) {
    if (value instanceof Object[]) {
      for (Object part : (Object[]) value) {
        collect(part, texts);
      }
    } else {
      texts.add((String) value);
    }
  }

  private static int distribute(List<String> texts, Object value, int next) {
    Object[] array = (Object[]) value;
    for (int i = 0; i < array.length; i++) {
      if (array instanceof String[]) {
        array[i] = texts.get(next++);
      } else {
        next = distribute(texts, array[i], next);
      }
    }
    return next;
  }
}
