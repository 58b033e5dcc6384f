package org.topwork;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.Before;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** Training a new head. */
public class TrainerTest {
  private static final List<String> NAMES = Arrays.asList("zero", "one", "two", "three");

  @Rule public final TemporaryFolder folder = new TemporaryFolder();
  private TestFiles.Digits train;
  private TestFiles.Digits test;

  private static TrainerOptions options() {
    return new TrainerOptions().classNames(NAMES).device("cpu").epochs(6).threads(2);
  }

  private static Trainer trainer() {
    try (Model model = Model.open(TestFiles.digits())) {
      return new Trainer(model, options());
    }
  }

  @Before
  public void read() throws Exception {
    train = TestFiles.Digits.read("train", 4);
    test = TestFiles.Digits.read("test", 4);
  }

  @Test
  public void teachesJudgesExportsAndRuns() throws Exception {
    File file = new File(folder.getRoot(), "personal.tflite");
    try (Trainer trainer = trainer()) {
      assertArrayEquals(new int[] {1, 8, 8, 1}, trainer.inputInfo(0).shape());
      trainer.add(train.examples());
      List<Long> epochs = new ArrayList<>();
      boolean isFinished =
          trainer.fit(
              new FitOptions()
                  .onEpoch(
                      epoch -> {
                        assertTrue(epoch.validationAccuracy() <= 1);
                        assertTrue(epoch.trainLoss() > 0);
                        return epochs.add(epoch.epoch());
                      }));
      assertTrue(isFinished);
      assertEquals(Arrays.asList(1L, 2L, 3L, 4L, 5L, 6L), epochs);
      assertTrue(trainer.calibrate() > 0);
      Evaluation judged = trainer.evaluate(test.examples());
      assertEquals(test.labels.length, judged.examples());
      assertTrue("accuracy " + judged.accuracy(), judged.accuracy() > 0.95);
      assertTrue(judged.precision(1) > 0.8 && judged.recall(1) > 0.8);
      assertTrue(judged.confusion(2, 2) > judged.confusion(2, 3));
      assertTrue(trainer.evaluate().examples() < train.labels.length);
      TrainerInfo info = trainer.info();
      assertEquals(NAMES, info.classNames());
      assertEquals("FULLY_CONNECTED", info.head());
      assertEquals(4, info.classCount());
      assertEquals(train.labels.length, info.exampleCount());
      assertTrue(info.memoryBytes() > 0);
      try (Model personal = trainer.export()) {
        assertEquals(NAMES, personal.info().labels());
        personal.save(file);
      }
      checkExport(trainer, file);
    }
  }

  private void checkExport(Trainer trainer, File file) {
    float[] predicted = trainer.predict(test.examples());
    try (Model personal = Model.open(file);
        Session session = new Session(personal, new SessionOptions().device("cpu"))) {
      session.input(0).put((ByteBuffer) test.pixels.duplicate().limit(256));
      session.run();
      for (int i = 0; i < 4; i++) {
        assertEquals(predicted[i], session.output(0).getFloat(4 * i), 1e-5f);
      }
    }
  }

  private static ExampleReader reader(TestFiles.Digits digits) {
    return (index, inputs) -> {
      ByteBuffer one = digits.pixels.duplicate();
      one.limit(256 * ((int) index + 1)).position(256 * (int) index);
      inputs[0].put(one);
      return digits.labels[(int) index];
    };
  }

  @Test
  public void examplesReadOneByOneAreTheSame() {
    float[] expected;
    try (Trainer trainer = trainer()) {
      trainer.add(train.examples());
      trainer.fit();
      expected = trainer.predict(test.examples());
    }
    try (Trainer trainer = trainer()) {
      List<Long> done = new ArrayList<>();
      Examples read = Examples.read(train.labels.length, reader(train));
      trainer.add(read.onProgress((n, total) -> done.add(n)));
      trainer.fit();
      assertArrayEquals(expected, trainer.predict(test.examples()), 0);
      assertEquals(train.labels.length, (long) done.get(done.size() - 1));
    }
  }

  @Test
  public void callbacksMayThrowStopAndAreKeptFromTheTrainer() {
    try (Trainer trainer = trainer()) {
      Examples broken =
          Examples.read(
              10,
              (index, inputs) -> {
                throw new UnsupportedOperationException("example " + index);
              });
      Exception thrown =
          assertThrows(UnsupportedOperationException.class, () -> trainer.add(broken));
      assertEquals("example 0", thrown.getMessage());
      Examples stopped = train.examples().onProgress((done, total) -> false);
      assertThrows(TopworkException.Cancelled.class, () -> trainer.add(stopped));
      assertEquals(0, trainer.info().exampleCount());
      trainer.add(train.examples());
      assertFalse(trainer.fit(new FitOptions().onEpoch(epoch -> epoch.epoch() < 2)));
      assertEquals(2, trainer.info().epochsDone());
      IllegalStateException own =
          assertThrows(
              IllegalStateException.class,
              () ->
                  trainer.fit(
                      new FitOptions()
                          .onEpoch(
                              epoch -> {
                                trainer.close();
                                return true;
                              })));
      assertEquals("this Trainer was called from its own callback", own.getMessage());
      assertTrue(trainer.fit());
    }
  }

  @Test
  public void wrongUseIsExplained() {
    try (Trainer trainer = trainer()) {
      assertThrows(TopworkException.FailedPrecondition.class, trainer::fit);
      ByteBuffer short_ = Topwork.allocate(100);
      assertThrows(
          TopworkException.InvalidArgument.class, () -> trainer.add(Examples.of(short_, 1)));
      assertThrows(
          TopworkException.InvalidArgument.class,
          () -> trainer.add(Examples.of(Topwork.allocate(256), 4)));
      trainer.add(Examples.of(Topwork.allocate(512), 1, 1));
      assertThrows(TopworkException.InvalidArgument.class, trainer::fit);
    }
  }

  @Test
  public void trainsOnAnExecutorAndIsCancelled() throws Exception {
    ExecutorService worker = Executors.newSingleThreadExecutor();
    ExecutorService screen = Executors.newSingleThreadExecutor();
    try (Trainer trainer = trainer()) {
      trainer.add(train.examples());
      List<Long> epochs = new ArrayList<>();
      FitOptions shown = new FitOptions().onEpoch(screen, epoch -> epochs.add(epoch.epoch()));
      assertTrue(trainer.fitAsync(worker, shown).get());
      screen.submit(() -> assertEquals(6, epochs.size())).get();
      CompletableFuture<Void> hasBegun = new CompletableFuture<>();
      FitOptions endless =
          new FitOptions()
              .epochs(1000000)
              .onEpoch(epoch -> hasBegun.complete(null) || hasBegun.isDone());
      CompletableFuture<Boolean> training = trainer.fitAsync(worker, endless);
      hasBegun.get();
      assertTrue(training.cancel(true));
      assertTrue(training.isCancelled());
      worker.submit(() -> assertFalse(trainer.info().isFinished())).get();
      trainer.cancel(); // nothing is in progress
      FitOptions cancelling =
          new FitOptions()
              .epochs(1000000)
              .onEpoch(
                  epoch -> {
                    trainer.cancel();
                    return true;
                  });
      CompletableFuture<Boolean> next = trainer.fitAsync(worker, cancelling);
      ExecutionException failure = assertThrows(ExecutionException.class, next::get);
      assertSame(TopworkException.Cancelled.class, failure.getCause().getClass());
    } finally {
      worker.shutdown();
      screen.shutdown();
    }
  }

  @Test
  public void aTrainingThatIsCancelledWhileItWaitsLeavesTheRunningCallAlone() throws Exception {
    ExecutorService worker = Executors.newSingleThreadExecutor();
    try (Trainer trainer = trainer()) {
      Examples examples =
          Examples.read(
              train.labels.length,
              (index, inputs) -> {
                if (index == 0) {
                  assertSame("a call keeps its trainer", trainer, trainer.handle.ownerInCall());
                  CompletableFuture<Boolean> fit = trainer.fitAsync(worker, new FitOptions());
                  Waiting.untilWaiting(trainer.handle, 1);
                  assertTrue(fit.cancel(true));
                }
                return reader(train).read(index, inputs);
              });
      trainer.add(examples);
      worker.submit(() -> {}).get();
      assertEquals(train.labels.length, trainer.info().exampleCount());
      assertEquals(0, trainer.info().epochsDone());
      assertNull(trainer.handle.ownerInCall());
    } finally {
      worker.shutdown();
    }
  }

  @Test
  public void nullsAndImpossibleCountsAreRefused() {
    try (Model model = Model.open(TestFiles.digits());
        Trainer trainer = trainer()) {
      assertThrows(NullPointerException.class, () -> new Trainer(model, null));
      assertThrows(NullPointerException.class, () -> trainer.fit((FitOptions) null));
      assertThrows(NullPointerException.class, () -> trainer.fitAsync(Runnable::run, null));
      assertThrows(NullPointerException.class, () -> Examples.read(5, null));
      assertThrows(
          IllegalArgumentException.class, () -> Examples.read(-1, (index, inputs) -> 0));
      Examples many = Examples.read(1L << 60, (index, inputs) -> 0);
      assertThrows(IllegalArgumentException.class, () -> trainer.predict(many));
    }
  }

  @Test
  public void goesOnFromACheckpointAsIfNeverInterrupted() throws Exception {
    File checkpoint = new File(folder.getRoot(), "c.checkpoint");
    float[] expected;
    try (Trainer trainer = trainer()) {
      trainer.add(train.examples());
      trainer.fit(new FitOptions().maxEpochs(2));
      trainer.saveCheckpoint(checkpoint);
      trainer.fit();
      expected = trainer.predict(test.examples());
    }
    try (Trainer trainer = trainer()) {
      trainer.loadCheckpoint(checkpoint);
      assertEquals(2, trainer.info().epochsDone());
      trainer.fit();
      assertArrayEquals(expected, trainer.predict(test.examples()), 0);
    }
    byte[] bytes = TestFiles.bytes(checkpoint);
    bytes[bytes.length / 2] ^= 1;
    java.nio.file.Files.write(checkpoint.toPath(), bytes);
    try (Trainer trainer = trainer()) {
      assertThrows(TopworkException.Corrupt.class, () -> trainer.loadCheckpoint(checkpoint));
    }
  }

  @Test
  public void headsAndClassesCanBeExchanged() throws Exception {
    File head = new File(folder.getRoot(), "h.head");
    try (Trainer trainer = trainer()) {
      trainer.add(train.examples());
      trainer.fit();
      trainer.saveHead(head);
      trainer.setClasses(Arrays.asList("three", "zero"));
      assertEquals(Arrays.asList("three", "zero"), trainer.info().classNames());
      assertThrows(
          TopworkException.InvalidArgument.class,
          () -> trainer.setClasses(Arrays.asList("a", "a")));
    }
    try (Trainer trainer = trainer()) {
      trainer.loadHead(head);
      assertTrue(trainer.evaluate(test.examples()).accuracy() > 0.95);
    }
  }

  @Test
  public void goldenSetKeepsAWorseHeadFromBeingExported() {
    try (Model model = Model.open(TestFiles.digits());
        Trainer trainer = new Trainer(model, new TrainerOptions().epochs(1).learningRate(1e-6f))) {
      trainer.setGolden(test.examples());
      trainer.add(train.examples());
      trainer.fit();
      assertThrows(TopworkException.FailedPrecondition.class, trainer::export);
    }
  }

  @Test
  public void everyOptionReachesTheTrainer() {
    File cache = new File(folder.getRoot(), "features");
    TrainerOptions all =
        options()
            .optimizer(TrainerOptions.Optimizer.RIDGE)
            .headInit(TrainerOptions.HeadInit.ZEROS)
            .weightDecay(0.1f)
            .batchSize(8)
            .patience(3)
            .seed(7)
            .validationFraction(0.5f)
            .keepInFloat(true)
            .balanceClasses(true)
            .replayCapacity(40)
            .memoryLimitBytes(1 << 28)
            .featureCache(cache)
            .preprocessing("0 to 1")
            .output("Identity")
            .inputScale(new float[] {0}, new float[] {255});
    try (Model model = Model.open(TestFiles.digits())) {
      try (Trainer trainer = new Trainer(model, all)) {
        trainer.add(train.examples());
        assertTrue(trainer.fit());
        assertEquals(1, trainer.info().epochsDone());
        assertEquals(40, trainer.info().exampleCount());
        assertEquals(20, trainer.info().validationCount());
        try (Model personal = trainer.export()) {
          assertArrayEquals(new float[] {255}, personal.info().inputStd(), 0);
        }
      }
      assertTrue(cache.length() > 0);
      TrainerOptions cached = options().featureCache(cache).preprocessing("0 to 1");
      try (Trainer trainer = new Trainer(model, cached)) {
        trainer.add(train.examples());
        assertTrue(trainer.info().cachedCount() > 0);
      }
      TrainerOptions wrong = options().validationFraction(2);
      assertThrows(TopworkException.InvalidArgument.class, () -> new Trainer(model, wrong));
      TrainerOptions augmented = options().augmentation(2, true, 2f, 0, 0);
      assertThrows(TopworkException.InvalidArgument.class, () -> new Trainer(model, augmented));
    }
  }
}
