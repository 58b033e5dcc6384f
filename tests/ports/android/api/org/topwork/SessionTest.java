package org.topwork;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.Test;

/** Running models. */
public class SessionTest {
  private static final SessionOptions CPU = new SessionOptions().device("cpu").threads(1);

  private static Session digits() {
    try (Model model = Model.open(TestFiles.digits())) {
      return new Session(model, CPU);
    }
  }

  private static Session small(String name, SessionOptions options) {
    try (Model model = Model.open(TestFiles.small(name))) {
      return new Session(model, options);
    }
  }

  private static float[] floats(ByteBuffer buffer) {
    FloatBuffer floats = buffer.order(ByteOrder.nativeOrder()).asFloatBuffer();
    float[] values = new float[floats.remaining()];
    floats.get(values);
    return values;
  }

  @Test
  public void answersAreTheGoldenOnes() throws Exception {
    Map<String, ByteBuffer> golden = TestFiles.golden("digits_cnn_f32");
    try (Session session = digits()) {
      int sets = 0;
      for (; golden.containsKey("in_" + sets + "_0"); sets++) {
        session.input(0).put(golden.get("in_" + sets + "_0").duplicate());
        session.run();
        assertArrayEquals(
            floats(golden.get("ref_" + sets + "_0")), floats(session.output(0)), 1e-5f);
      }
      assertTrue("there are golden answers", sets > 0);
    }
  }

  @Test
  public void buffersAreTheSameMemoryInEveryRunAndOutliveTheSession() {
    Session session = digits();
    ByteBuffer input = session.input(0);
    ByteBuffer output = session.output(0);
    session.run();
    float before = output.getFloat(0);
    for (int i = 0; i < 64; i++) {
      input.putFloat(4 * i, i / 64f);
    }
    session.run();
    assertTrue(before != output.getFloat(0));
    assertEquals(ByteOrder.nativeOrder(), session.output(0).order());
    session.close();
    input.putFloat(0, 1);
    assertTrue(output.getFloat(0) >= 0);
    assertThrows(IllegalStateException.class, session::run);
    assertThrows(IllegalStateException.class, () -> session.input(0));
  }

  @Test
  public void ownBuffersAreReadAndWrittenInPlace() {
    try (Session session = small("signatures", CPU)) {
      TensorInfo info = session.inputInfo(0);
      ByteBuffer input = ByteBuffer.allocateDirect((int) info.bytes() + 8);
      input.order(ByteOrder.nativeOrder()).putFloat(8, 1.5f).position(8);
      ByteBuffer output = Topwork.allocate(session.outputInfo(0).bytes());
      session.bindInput(0, input);
      session.bindOutput(0, output);
      session.run();
      assertEquals(3f, output.getFloat(0), 0);
      ByteBuffer small = ByteBuffer.allocateDirect(1);
      assertThrows(TopworkException.InvalidArgument.class, () -> session.bindInput(0, small));
      ByteBuffer heap = ByteBuffer.allocate((int) info.bytes());
      assertThrows(IllegalArgumentException.class, () -> session.bindInput(0, heap));
      session.run();
      assertEquals(3f, output.getFloat(0), 0);
    }
  }

  @Test
  public void resizedBatchGivesARowForEachExample() throws Exception {
    ByteBuffer example = TestFiles.golden("digits_cnn_f32").get("in_0_0");
    float[] one;
    try (Session session = digits()) {
      session.input(0).put(example.duplicate());
      session.run();
      one = floats(session.output(0));
      session.resizeInput(0, 3, 8, 8, 1);
      ByteBuffer input = session.input(0);
      assertEquals(3 * 256, input.capacity());
      for (int i = 0; i < 3; i++) {
        input.put(example.duplicate());
      }
      session.run();
      float[] three = floats(session.output(0));
      assertEquals(30, three.length);
      assertArrayEquals(one, Arrays.copyOfRange(three, 20, 30), 1e-6f);
      session.resizeInput(0, 1, 8, 8);
      assertThrows(TopworkException.class, session::prepare);
      assertArrayEquals(new int[] {3, 8, 8, 1}, session.inputInfo(0).shape());
      session.run();
    }
  }

  @Test
  public void aRefusedResizeLeavesTheCallersBuffersBound() {
    try (Session session = small("signatures", CPU)) {
      ByteBuffer input = Topwork.allocate(session.inputInfo(0).bytes());
      ByteBuffer output = Topwork.allocate(session.outputInfo(0).bytes());
      session.bindInput(0, input);
      session.bindOutput(0, output);
      assertThrows(TopworkException.InvalidArgument.class, () -> session.resizeInput(9, 1, 4));
      assertThrows(
          TopworkException.InvalidArgument.class, () -> session.resizeInput(0, new int[20]));
      int[] none = null;
      assertThrows(NullPointerException.class, () -> session.resizeInput(0, none));
      input.putFloat(0, 1.5f);
      session.run();
      assertEquals(3f, output.getFloat(0), 0);
    }
  }

  @Test
  public void outputWhoseSizeDependsOnDataIsTheLastRuns() {
    try (Session session = small("where", CPU)) {
      ByteBuffer input = session.input(0);
      for (int set = 0; set <= 4; set++) {
        for (int i = 0; i < 4; i++) {
          input.put(i, (byte) (i < set ? 1 : 0));
        }
        session.run();
        assertEquals(8 * set, session.output(0).capacity());
        if (set > 0) {
          assertEquals(set - 1, session.output(0).getLong(8 * (set - 1)));
        }
      }
    }
  }

  @Test
  public void stringsGoInAndComeOut() {
    try (Session session = small("strings", CPU)) {
      session.writeStrings(0, Arrays.asList("oak", "\u00e4sche \ud83c\udf33", ""));
      session.input(1).putInt(0, 1);
      session.run();
      assertEquals(Arrays.asList("\u00e4sche \ud83c\udf33"), session.readStrings(0));
      assertThrows(
          TopworkException.InvalidArgument.class,
          () -> session.writeStrings(0, Arrays.asList("one")));
      assertThrows(TopworkException.Unsupported.class, () -> session.input(0));
    }
  }

  @Test
  public void signaturesAndNames() {
    SessionOptions mix = new SessionOptions().device("cpu").signature("mix");
    try (Session session = small("signatures", mix)) {
      assertEquals(2, session.inputCount());
      assertEquals(2, session.outputCount());
      session.input(session.inputIndex("a")).putFloat(0, 5);
      session.input(session.inputIndex("b")).putFloat(0, 3);
      session.run();
      assertEquals(2f, session.output(session.outputIndex("difference")).getFloat(0), 0);
      assertEquals(8f, session.output(session.outputIndex("sum")).getFloat(0), 0);
      TopworkException unknown =
          assertThrows(TopworkException.NotFound.class, () -> session.inputIndex("c"));
      assertTrue(unknown.getMessage(), unknown.getMessage().contains("a"));
    }
    assertThrows(
        TopworkException.NotFound.class,
        () -> small("signatures", new SessionOptions().signature("none")));
    assertThrows(
        TopworkException.class,
        () -> small("signatures", new SessionOptions().device("opencl:77")));
  }

  @Test
  public void optionsReachTheSession() {
    SessionOptions batch =
        new SessionOptions().device("cpu").threads(2).inputShapes(new int[] {5, 8, 8, 1});
    try (Model model = Model.open(TestFiles.digits());
        Session session = new Session(model, batch)) {
      assertArrayEquals(new int[] {5, 10}, session.outputInfo(0).shape());
      assertTrue(session.plan(), session.plan().contains("2 threads"));
      assertTrue(session.memoryBytes() > 0);
      SessionOptions tight = new SessionOptions().device("cpu").memoryLimitBytes(1000);
      assertThrows(TopworkException.OutOfMemory.class, () -> new Session(model, tight));
      SessionOptions wrong = new SessionOptions().inputShapes(new int[] {5}, null);
      assertThrows(TopworkException.InvalidArgument.class, () -> new Session(model, wrong));
    }
  }

  @Test
  public void precisionReachesTheSession() {
    try (Model model = Model.open(TestFiles.digits())) {
      for (Precision precision : Precision.values()) {
        SessionOptions options = new SessionOptions().device("cpu").precision(precision);
        try (Session session = new Session(model, options)) {
          assertEquals(
              session.plan(),
              precision == Precision.FLOAT16,
              session.plan().contains("precision float16"));
        }
      }
    }
  }

  @Test
  public void anotherSessionHasItsOwnBuffers() {
    try (Session session = digits();
        Session other = session.another()) {
      session.input(0).putFloat(0, 1);
      other.run();
      session.run();
      assertEquals(0f, other.input(0).getFloat(0), 0);
    }
  }

  @Test
  public void runsOnAnExecutor() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (Session session = digits()) {
      session.runAsync(executor).get();
      session.cancel(); // nothing is in progress: no later run is cancelled
      session.runAsync(executor).get();
      session.run();
      CompletableFuture<Void> later = new CompletableFuture<>();
      executor.execute(() -> later.join());
      CompletableFuture<Void> never = session.runAsync(executor);
      assertTrue(never.cancel(true));
      later.complete(null);
      session.runAsync(executor).get();
    } finally {
      executor.shutdown();
    }
  }

  @Test
  public void aRunThatIsCancelledWhileItWaitsLeavesTheOutputs() throws Exception {
    ExecutorService executor = Executors.newSingleThreadExecutor();
    try (Session session = digits()) {
      session.run();
      float before = session.output(0).getFloat(0);
      session.input(0).putFloat(0, 1);
      CompletableFuture<?>[] waiting = new CompletableFuture<?>[1];
      session.handle.run(
          session,
          address -> {
            waiting[0] = session.runAsync(executor);
            Waiting.untilWaiting(session.handle, 1);
            assertTrue(waiting[0].cancel(true));
          });
      executor.submit(() -> assertTrue(waiting[0].isCancelled())).get();
      assertEquals(before, session.output(0).getFloat(0), 0);
    } finally {
      executor.shutdown();
    }
  }

  @Test
  public void callsOfSeveralThreadsTakeTurnsAndCloseWaits() throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(4);
    for (int round = 0; round < 20; round++) {
      Session session = digits();
      CompletableFuture<?>[] calls = new CompletableFuture<?>[4];
      for (int i = 0; i < 4; i++) {
        calls[i] = CompletableFuture.runAsync(() -> runUntilClosed(session), executor);
      }
      session.input(0);
      session.close();
      CompletableFuture.allOf(calls).get();
    }
    executor.shutdown();
  }

  private static void runUntilClosed(Session session) {
    try {
      while (true) {
        try {
          session.run();
          session.output(0).getFloat(0);
        } catch (TopworkException.Cancelled e) {
          // close() cancels the run that it waits for.
        }
      }
    } catch (IllegalStateException closed) {
      assertEquals("this Session is closed", closed.getMessage());
    }
  }

  @Test
  public void forgottenSessionsAreFreed() throws Exception {
    for (int i = 0; i < 20; i++) {
      digits().run();
    }
    for (int i = 0; i < 200 && HandleNet.size() > 0; i++) {
      System.gc();
      Thread.sleep(10);
    }
    assertEquals(0, HandleNet.size());
    assertFalse(Device.all().isEmpty());
  }
}
