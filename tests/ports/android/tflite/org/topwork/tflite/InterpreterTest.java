package org.topwork.tflite;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.FileInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import org.junit.Test;
import org.tensorflow.lite.DataType;
import org.tensorflow.lite.Tensor;
import org.topwork.TestFiles;
import org.topwork.TopworkException;

/** Code as it is written for org.tensorflow.lite. */
public class InterpreterTest {
  private static final String[] ZOO = {"digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32"};

  /** The loader that every sample has. */
  private static MappedByteBuffer loadModelFile(File file) throws Exception {
    try (FileInputStream stream = new FileInputStream(file)) {
      return stream.getChannel().map(FileChannel.MapMode.READ_ONLY, 0, file.length());
    }
  }

  private static float[] floats(ByteBuffer buffer) {
    FloatBuffer floats = buffer.duplicate().order(ByteOrder.nativeOrder()).asFloatBuffer();
    float[] values = new float[floats.remaining()];
    floats.get(values);
    return values;
  }

  @Test
  public void zooModelsGiveTheGoldenAnswersThroughBuffersAndArrays() throws Exception {
    for (String name : ZOO) {
      Map<String, ByteBuffer> golden = TestFiles.golden(name);
      File file = TestFiles.file("models/zoo/" + name + ".tflite");
      Interpreter.Options options = new Interpreter.Options().setNumThreads(2);
      try (Interpreter interpreter = new Interpreter(loadModelFile(file), options)) {
        for (int set = 0; golden.containsKey("in_" + set + "_0"); set++) {
          ByteBuffer input = golden.get("in_" + set + "_0");
          float[] wanted = floats(golden.get("ref_" + set + "_0"));
          input.position(input.capacity()); // code that forgets rewind() works, too
          float[][] scores = new float[1][wanted.length];
          interpreter.run(input, scores);
          assertArrayEquals(name, wanted, scores[0], 1e-5f);
          ByteBuffer output = ByteBuffer.allocateDirect(4 * wanted.length);
          input.rewind();
          interpreter.run(floatArray(input, interpreter.getInputTensor(0).shape()), output);
          assertEquals(0, output.remaining());
          output.rewind();
          assertArrayEquals(name, wanted, floats(output), 1e-5f);
        }
        assertTrue(golden.containsKey("in_0_0"));
        assertTrue(interpreter.getLastNativeInferenceDurationNanoseconds() > 0);
      }
    }
  }

  /** A nested array of that shape with the buffer's values. */
  private static Object floatArray(ByteBuffer values, int[] shape) {
    Object array = java.lang.reflect.Array.newInstance(float.class, shape);
    fill(array, values.duplicate().order(ByteOrder.nativeOrder()));
    return array;
  }

  private static void fill(Object array, ByteBuffer values) {
    if (array instanceof float[]) {
      for (int i = 0; i < ((float[]) array).length; i++) {
        ((float[]) array)[i] = values.getFloat();
      }
      return;
    }
    for (Object part : (Object[]) array) {
      fill(part, values);
    }
  }

  @Test
  public void tensorsTellWhatTheyAre() {
    try (Interpreter interpreter = new Interpreter(TestFiles.digits())) {
      assertEquals(1, interpreter.getInputTensorCount());
      assertEquals(1, interpreter.getOutputTensorCount());
      Tensor input = interpreter.getInputTensor(0);
      assertEquals(DataType.FLOAT32, input.dataType());
      assertArrayEquals(new int[] {1, 8, 8, 1}, input.shape());
      assertEquals(4, input.numDimensions());
      assertEquals(64, input.numElements());
      assertEquals(256, input.numBytes());
      assertEquals(0, interpreter.getInputIndex(input.name()));
      assertEquals(0f, input.quantizationParams().getScale(), 0);
      assertNull(interpreter.getLastNativeInferenceDurationNanoseconds());
      interpreter.run(new float[1][8][8][1], null);
      assertEquals(40, interpreter.getOutputTensor(0).asReadOnlyBuffer().remaining());
      assertThrows(IllegalArgumentException.class, () -> interpreter.getInputTensor(3));
      assertThrows(IllegalArgumentException.class, () -> interpreter.getOutputIndex("none"));
    }
    File file = TestFiles.small("strings");
    try (Interpreter interpreter = new Interpreter(file)) {
      assertEquals(DataType.STRING, interpreter.getInputTensor(0).dataType());
    }
  }

  @Test
  public void arraysOfAnotherShapeResize() {
    try (Interpreter interpreter = new Interpreter(TestFiles.digits())) {
      float[][] scores = new float[3][10];
      interpreter.run(new float[3][8][8][1], scores);
      assertArrayEquals(scores[0], scores[2], 0);
      interpreter.resizeInput(0, new int[] {2, 8, 8, 1});
      interpreter.allocateTensors();
      assertArrayEquals(new int[] {2, 10}, interpreter.getOutputTensor(0).shape());
      assertThrows(
          IllegalArgumentException.class,
          () -> interpreter.resizeInput(0, new int[] {2, 9, 9, 1}, true));
    }
  }

  @Test
  public void runAllocatesAfterAResize() {
    try (Interpreter interpreter = new Interpreter(TestFiles.digits())) {
      Tensor input = interpreter.getInputTensor(0);
      interpreter.resizeInput(0, new int[] {2, 8, 8, 1});
      assertArrayEquals(new int[] {2, 8, 8, 1}, input.shape());
      assertEquals(128, input.numElements());
      assertEquals(512, input.numBytes());
      ByteBuffer scores = ByteBuffer.allocateDirect(80);
      interpreter.run(ByteBuffer.allocateDirect(512), scores);
      assertEquals(0, scores.remaining());
      interpreter.resizeInput(0, new int[] {3, 8, 8, 1});
      interpreter.run(new float[3][8][8][1], new float[3][10]);
      interpreter.resizeInput(0, new int[] {4, 8, 8, 1});
      interpreter.run(new float[3][8][8][1], new float[3][10]); // the array's shape counts
      assertArrayEquals(new int[] {3, 8, 8, 1}, input.shape());
      interpreter.resizeInput(0, new int[] {5, 8, 8, 1});
      assertEquals(1280, input.asReadOnlyBuffer().remaining());
      interpreter.resizeInput(0, new int[] {1, 8, 8});
      assertThrows(IllegalArgumentException.class, interpreter::allocateTensors);
      assertArrayEquals(new int[] {5, 8, 8, 1}, input.shape());
      interpreter.run(ByteBuffer.allocateDirect(1280), new float[5][10]);
    }
  }

  @Test
  public void inputsThatDoNotExistAndBoxedArraysAreRefused() {
    try (Interpreter interpreter = new Interpreter(TestFiles.digits())) {
      int[] dims = {1, 8, 8, 1};
      assertThrows(IllegalArgumentException.class, () -> interpreter.resizeInput(9, dims, true));
      assertThrows(IllegalArgumentException.class, () -> interpreter.resizeInput(9, dims));
      float[][] scores = new float[1][10];
      Float[][][][] boxes = new Float[1][8][8][1];
      assertThrows(IllegalArgumentException.class, () -> interpreter.run(boxes, scores));
      float[][][][] image = new float[1][8][8][1];
      assertThrows(
          IllegalArgumentException.class, () -> interpreter.run(image, new Float[1][10]));
      interpreter.resizeInput(0, new int[] {2, 8, 8, 1});
      float[][] half = {new float[10], null};
      assertThrows(
          IllegalArgumentException.class, () -> interpreter.run(new float[2][8][8][1], half));
    }
  }

  @Test
  public void stringsFlagsAndNumbers() {
    try (Interpreter interpreter = new Interpreter(TestFiles.small("strings"))) {
      String[] out = new String[1];
      Object[] inputs = {new String[] {"oak", "ash", "elm"}, new int[] {2}};
      interpreter.runForMultipleInputsOutputs(inputs, Collections.singletonMap(0, out));
      assertEquals("elm", out[0]);
    }
    try (Interpreter interpreter = new Interpreter(TestFiles.small("where"))) {
      long[][] places = new long[2][1];
      interpreter.run(new boolean[] {false, true, false, true}, places);
      assertEquals(1, places[0][0]);
      assertEquals(3, places[1][0]);
    }
  }

  @Test
  public void signaturesRunByName() {
    try (Interpreter interpreter = new Interpreter(TestFiles.small("signatures"))) {
      assertArrayEquals(new String[] {"double", "mix"}, interpreter.getSignatureKeys());
      assertArrayEquals(new String[] {"b", "a"}, interpreter.getSignatureInputs("mix"));
      assertArrayEquals(new String[] {"difference", "sum"}, interpreter.getSignatureOutputs("mix"));
      Map<String, Object> inputs = new HashMap<>();
      inputs.put("a", new float[][] {{5, 6, 7, 8}});
      inputs.put("b", FloatBuffer.wrap(new float[] {1, 2, 3, 4}));
      float[][] sum = new float[1][4];
      interpreter.runSignature(inputs, Collections.singletonMap("sum", sum), "mix");
      assertArrayEquals(new float[] {6, 8, 10, 12}, sum[0], 0);
      assertEquals("sum", interpreter.getOutputTensorFromSignature("sum", "mix").name());
      assertThrows(
          IllegalArgumentException.class,
          () -> interpreter.runSignature(inputs, new HashMap<>(), "none"));
      assertThrows(
          IllegalArgumentException.class, () -> interpreter.runSignature(inputs, new HashMap<>()));
    }
  }

  @Test
  public void wrongUseIsRefusedAsOnesCodeExpects() throws Exception {
    ByteBuffer noModel = ByteBuffer.allocateDirect(100);
    IllegalArgumentException bad =
        assertThrows(IllegalArgumentException.class, () -> new Interpreter(noModel));
    assertEquals(TopworkException.InvalidModel.class, bad.getCause().getClass());
    assertThrows(IllegalArgumentException.class, () -> new Interpreter(new File("no such file")));
    Interpreter interpreter = new Interpreter(loadModelFile(TestFiles.digits()));
    float[][] out = new float[1][10];
    assertThrows(IllegalArgumentException.class, () -> interpreter.run(null, out));
    assertThrows(IllegalArgumentException.class, () -> interpreter.run(new int[1][8][8][1], out));
    assertThrows(
        IllegalArgumentException.class, () -> interpreter.run(ByteBuffer.allocate(255), out));
    assertThrows(
        IllegalArgumentException.class,
        () -> interpreter.run(new float[1][8][8][1], new float[10]));
    assertThrows(
        IllegalArgumentException.class,
        () -> interpreter.run(new float[1][8][8][1], ByteBuffer.allocate(39)));
    float[][][][] ragged = new float[1][8][8][1];
    ragged[0][3] = new float[7][1];
    assertThrows(IllegalArgumentException.class, () -> interpreter.run(ragged, out));
    assertThrows(IllegalStateException.class, () -> interpreter.setCancelled(true));
    interpreter.run(new float[1][8][8][1], out);
    interpreter.close();
    assertThrows(IllegalStateException.class, () -> interpreter.run(new float[1][8][8][1], out));
  }

  @Test
  public void cancelledRunsFailUntilItIsTakenBack() {
    Interpreter.Options options = new Interpreter.Options().setCancellable(true);
    try (Interpreter interpreter = new Interpreter(TestFiles.digits(), options)) {
      float[][][][] image = new float[1][8][8][1];
      interpreter.setCancelled(true);
      assertThrows(IllegalStateException.class, () -> interpreter.run(image, new float[1][10]));
      interpreter.setCancelled(false);
      interpreter.run(image, new float[1][10]);
      assertFalse(interpreter.getSignatureKeys().length > 1);
    }
  }
}
