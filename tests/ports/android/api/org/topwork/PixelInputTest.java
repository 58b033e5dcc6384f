package org.topwork;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.nio.ByteBuffer;
import java.util.stream.IntStream;
import org.junit.Test;

/** Pictures as inputs. */
public class PixelInputTest {
  private static final float[] NONE = {};

  private static TensorInfo input(DataType type, float[] scales, long[] zeroPoints, int... shape) {
    long bytes = type.bits() / 8L * IntStream.of(shape).reduce(1, (a, b) -> a * b);
    return new TensorInfo(
        TestFiles.utf8("x"), type.ordinal(), shape, shape, bytes, scales, zeroPoints, 0, true);
  }

  private static int[] gray(int... values) {
    return IntStream.of(values).map(v -> 0xff000000 | v << 16 | v << 8 | v).toArray();
  }

  private static int[] written(int[] pixels, int columns, int rows, int rotation, int h, int w) {
    TensorInfo info = input(DataType.UINT8, NONE, new long[0], 1, h, w, 1);
    ByteBuffer memory = Topwork.allocate(info.bytes());
    new PixelInput(info, NONE, NONE).write(pixels, columns, rows, rotation, memory);
    return IntStream.range(0, h * w).map(i -> memory.get(i) & 255).toArray();
  }

  @Test
  public void turnsUpright() {
    int[] pixels = gray(1, 2, 3, 4, 5, 6); // 3 columns, 2 rows
    assertArrayEquals(new int[] {1, 2, 3, 4, 5, 6}, written(pixels, 3, 2, 0, 2, 3));
    assertArrayEquals(new int[] {4, 1, 5, 2, 6, 3}, written(pixels, 3, 2, 90, 3, 2));
    assertArrayEquals(new int[] {6, 5, 4, 3, 2, 1}, written(pixels, 3, 2, 180, 2, 3));
    assertArrayEquals(new int[] {3, 6, 2, 5, 1, 4}, written(pixels, 3, 2, 270, 3, 2));
    assertThrows(IllegalArgumentException.class, () -> written(pixels, 3, 2, 45, 2, 3));
  }

  @Test
  public void averagesAndCutsTheCentre() {
    int[] pixels = gray(9, 10, 20, 9, 9, 30, 40, 9); // 4 columns, 2 rows
    assertArrayEquals(new int[] {25}, written(pixels, 4, 2, 0, 1, 1));
    assertArrayEquals(new int[] {10, 20, 30, 40}, written(pixels, 4, 2, 0, 2, 2));
    int[] large = written(gray(7), 1, 1, 0, 2, 2);
    assertArrayEquals(new int[] {7, 7, 7, 7}, large);
  }

  @Test
  public void channelsAreRedGreenBlueWithTheirOwnScale() {
    TensorInfo info = input(DataType.FLOAT32, NONE, new long[0], 1, 1, 1, 3);
    ByteBuffer memory = Topwork.allocate(info.bytes());
    float[] mean = {100, 50, 0};
    float[] std = {10, 5, 1};
    new PixelInput(info, mean, std).write(new int[] {0xff783c01}, 1, 1, 0, memory);
    assertEquals(2f, memory.getFloat(0), 0);
    assertEquals(2f, memory.getFloat(4), 0);
    assertEquals(1f, memory.getFloat(8), 0);
    new PixelInput(info, NONE, NONE).write(new int[] {0xff783c01}, 1, 1, 0, memory);
    assertEquals(0x78, memory.getFloat(0), 0);
  }

  @Test
  public void quantizedInputsAreRoundedAndClamped() {
    TensorInfo info = input(DataType.INT8, new float[] {0.0078125f}, new long[] {-1}, 1, 1, 3, 1);
    ByteBuffer memory = Topwork.allocate(info.bytes());
    float[] half = {127.5f};
    new PixelInput(info, half, half).write(gray(0, 128, 255), 3, 1, 0, memory);
    assertEquals(-128, memory.get(0));
    assertEquals(0, memory.get(1));
    assertEquals(127, memory.get(2));
    new PixelInput(info, NONE, NONE).write(gray(0, 128, 255), 3, 1, 0, memory);
    assertEquals(-128, memory.get(0));
    assertEquals(127, memory.get(2));
  }

  @Test
  public void refusesWhatIsNoPicture() {
    TensorInfo flat = input(DataType.FLOAT32, NONE, new long[0], 1, 64);
    assertThrows(IllegalArgumentException.class, () -> new PixelInput(flat, NONE, NONE));
    TensorInfo ints = input(DataType.INT32, NONE, new long[0], 1, 8, 8, 3);
    assertThrows(IllegalArgumentException.class, () -> new PixelInput(ints, NONE, NONE));
    TensorInfo good = input(DataType.FLOAT32, NONE, new long[0], 1, 8, 8, 3);
    float[] two = {1, 2};
    assertThrows(IllegalArgumentException.class, () -> new PixelInput(good, two, two));
  }

  @Test
  public void refusesAScaleThatIsNone() {
    TensorInfo info = input(DataType.FLOAT32, NONE, new long[0], 1, 8, 8, 3);
    float[] good = {1, 1, 1};
    for (float wrong : new float[] {Float.NaN, Float.POSITIVE_INFINITY, 0, -1}) {
      float[] last = {1, 1, wrong};
      assertThrows(IllegalArgumentException.class, () -> new PixelInput(info, good, last));
      if (wrong != 0 && wrong != -1) {
        assertThrows(IllegalArgumentException.class, () -> new PixelInput(info, last, good));
      } else {
        new PixelInput(info, last, good);
      }
    }
  }
}
