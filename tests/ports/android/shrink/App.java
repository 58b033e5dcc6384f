package app;

import java.io.File;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;
import org.topwork.Device;
import org.topwork.Evaluation;
import org.topwork.Examples;
import org.topwork.FitOptions;
import org.topwork.Model;
import org.topwork.Session;
import org.topwork.SessionOptions;
import org.topwork.TopworkException;
import org.topwork.Trainer;
import org.topwork.TrainerInfo;
import org.topwork.TrainerOptions;
import org.topwork.tflite.Interpreter;

/** An application that uses all that native code finds by name, and prints what came of it. */
final class App {
  private static final int CLASSES = 4;
  private static final int PIXELS = 64;

  private App() {}

  /** Takes a model of 8 x 8 digits and a folder to write to. */
  public static void main(String[] arguments) {
    File file = new File(arguments[0]);
    File mine = new File(arguments[1], "mine.tflite");
    try (Model model = Model.open(file)) {
      System.out.println(model.info().description() + Arrays.toString(model.inputInfo(0).shape()));
      run(model);
      train(model, mine);
    }
    try (Model model = Model.open(mine)) {
      System.out.println(model.info().labels());
      run(model);
    }
    try (Interpreter interpreter = new Interpreter(file)) {
      float[][] scores = new float[1][10];
      interpreter.run(new float[1][8][8][1], scores);
      System.out.println(Arrays.toString(scores[0]));
    }
    for (Device device : Device.all()) {
      System.out.println(device.id() + " " + device.isUsable());
    }
    try (Model none = Model.open(mine.getParentFile())) {
      throw new AssertionError("a folder was opened as a model");
    } catch (TopworkException.Io | TopworkException.InvalidArgument e) {
      System.out.println(e.getMessage());
    }
  }

  private static void run(Model model) {
    try (Session session = new Session(model, new SessionOptions().device("cpu").threads(1))) {
      FloatBuffer pixels = session.input(0).asFloatBuffer();
      for (int i = 0; i < PIXELS; i++) {
        pixels.put(i, i % 8 / 8.0f);
      }
      session.run();
      FloatBuffer scores = session.output(0).asFloatBuffer();
      for (int i = 0; i < scores.limit(); i++) {
        System.out.print(scores.get(i) + " ");
      }
      System.out.println();
    }
  }

  // Class c has its bright pixels in rows 2c and 2c + 1.
  private static long example(long index, ByteBuffer[] inputs) {
    FloatBuffer pixels = inputs[0].asFloatBuffer();
    long label = index % CLASSES;
    for (int i = 0; i < PIXELS; i++) {
      pixels.put(i, i / 16 == label ? 1.0f : (index + i) % 7 / 10.0f);
    }
    return label;
  }

  private static void train(Model model, File mine) {
    TrainerOptions options = new TrainerOptions().device("cpu").threads(1).epochs(3)
        .classNames(Arrays.asList("first", "second", "third", "fourth"));
    try (Trainer trainer = new Trainer(model, options)) {
      trainer.add(Examples.read(40, App::example).onProgress((done, all) -> true));
      trainer.fit(new FitOptions().onEpoch(epoch -> {
        System.out.println("epoch " + epoch.epoch() + " " + epoch.trainLoss());
        return true;
      }));
      Evaluation judged = trainer.evaluate(Examples.read(8, App::example));
      TrainerInfo info = trainer.info();
      System.out.println(judged.accuracy() + " " + judged.confusion(1, 1) + " " + info.head());
      try (Model trained = trainer.export()) {
        trained.save(mine);
      }
    }
  }
}
