package org.topwork.sample;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.topwork.Examples;
import org.topwork.FitOptions;
import org.topwork.Model;
import org.topwork.PixelInput;
import org.topwork.Session;
import org.topwork.Topwork;
import org.topwork.Trainer;
import org.topwork.TrainerOptions;

/**
 * Classifies pictures, and learns new things from five pictures of each. Until two things were
 * learnt it answers with the shipped classes, afterwards with the learnt ones.
 *
 * <p>Every tap is on disk when {@link #tap} returns: a process that is killed goes on where it was.
 * Files: {@code taught.checkpoint} has the pictures' features and the head, {@code personal.tflite}
 * the model that was trained last. One thread at a time.
 */
public final class Teacher implements AutoCloseable {
  /** Pictures of a thing. */
  public static final int TAPS = 5;

  private static final String NOT_TAUGHT = "?"; // a head has two classes at least
  private static final int EPOCHS = 20;

  private final Model base;
  private final List<String> baseLabels;
  private final File checkpoint;
  private final File personal;
  private final Trainer trainer;
  private final PixelInput pixels;
  private final ByteBuffer example;
  private Model model;
  private Session session;
  private List<String> labels;

  /** What a picture shows. */
  public static final class Answer {
    private final String name;
    private final float probability;

    Answer(String name, float probability) {
      this.name = name;
      this.probability = probability;
    }

    /** Returns the class. */
    public String name() {
      return name;
    }

    /** Returns its probability, 0 to 1. */
    public float probability() {
      return probability;
    }
  }

  /**
   * Goes on with what was taught in {@code folder}.
   *
   * @param base a classifier of pictures, which stays the caller's
   * @param labels its classes; where there are none, they are called by their numbers
   * @param mean what its pixels of 0 to 255 are made inputs by: (pixel - mean) / std
   * @param std as many numbers
   */
  public Teacher(Model base, List<String> labels, File folder, float[] mean, float[] std) {
    this.base = base;
    this.baseLabels = labels;
    checkpoint = new File(folder, "taught.checkpoint");
    personal = new File(folder, "personal.tflite");
    trainer =
        new Trainer(
            base,
            new TrainerOptions()
                .classNames(Arrays.asList(NOT_TAUGHT, NOT_TAUGHT + NOT_TAUGHT))
                .headInit(TrainerOptions.HeadInit.IMPRINT)
                .validationFraction(0)
                .inputScale(mean, std));
    pixels = new PixelInput(trainer.inputInfo(0), mean, std);
    example = Topwork.allocate(trainer.inputInfo(0).bytes());
    if (checkpoint.exists()) {
      trainer.loadCheckpoint(checkpoint);
    }
    if (things().size() >= 2 && taps() == 0 && !isTrained()) {
      train(); // the process was killed between the last tap and the model
    }
    open();
  }

  /** Returns the things that were taught with all their pictures. */
  public List<String> things() {
    int learnt = (int) trainer.info().exampleCount() / TAPS;
    return new ArrayList<>(trainer.info().classNames().subList(0, learnt));
  }

  /** Returns the thing that is being taught; null if there is none. */
  public String current() {
    int learnt = things().size();
    List<String> names = trainer.info().classNames();
    String next = learnt < names.size() ? names.get(learnt) : NOT_TAUGHT;
    return next.startsWith(NOT_TAUGHT) ? null : next;
  }

  /** Returns how many pictures of it are still to be tapped. */
  public int tapsLeft() {
    return current() == null ? 0 : TAPS - taps();
  }

  /**
   * Begins a new thing.
   *
   * @throws IllegalArgumentException if it is taught already, or has no name
   * @throws IllegalStateException while another one is being taught
   */
  public void begin(String name) {
    if (current() != null) {
      throw new IllegalStateException(current() + " needs " + tapsLeft() + " more pictures");
    }
    List<String> names = things();
    if (name.isEmpty() || name.startsWith(NOT_TAUGHT) || names.contains(name)) {
      throw new IllegalArgumentException("not a new name: " + name);
    }
    names.add(name);
    if (names.size() == 1) {
      names.add(NOT_TAUGHT);
    }
    trainer.setClasses(names);
  }

  /**
   * Learns a picture of the current thing. Returns whether that was the last one: it is known then.
   *
   * @param argb rows of pixels, without gaps
   * @param rotation degrees that the picture is turned clockwise to stand upright
   */
  public boolean tap(int[] argb, int columns, int rows, int rotation) {
    if (current() == null) {
      throw new IllegalStateException("begin a thing first");
    }
    pixels.write(argb, columns, rows, rotation, example);
    trainer.add(Examples.of(example, things().size()));
    trainer.saveCheckpoint(checkpoint);
    if (taps() > 0) {
      return false;
    }
    if (things().size() >= 2) {
      train();
      open();
    }
    return true;
  }

  /** Tells what a picture shows. */
  public Answer classify(int[] argb, int columns, int rows, int rotation) {
    pixels.write(argb, columns, rows, rotation, session.input(0));
    session.run();
    ByteBuffer scores = session.output(0);
    int best = 0;
    for (int i = 1; i < scores.capacity() / 4; i++) {
      if (scores.getFloat(4 * i) > scores.getFloat(4 * best)) {
        best = i;
      }
    }
    String name = best < labels.size() ? labels.get(best) : "class " + best;
    return new Answer(name, scores.getFloat(4 * best));
  }

  /** Frees the model, the session and the trainer; the files stay. */
  @Override
  public void close() {
    closeSession();
    trainer.close();
  }

  private int taps() {
    return (int) trainer.info().exampleCount() % TAPS;
  }

  private boolean isTrained() {
    if (!personal.exists()) {
      return false;
    }
    try (Model last = Model.open(personal)) {
      return last.info().labels().equals(things());
    }
  }

  private void train() {
    trainer.fit(new FitOptions().epochs((int) trainer.info().epochsDone() + EPOCHS));
    try (Model trained = trainer.export()) {
      trained.save(personal);
    }
    trainer.saveCheckpoint(checkpoint);
  }

  private void open() {
    closeSession();
    if (personal.exists()) {
      model = Model.open(personal);
      labels = model.info().labels();
    } else {
      labels = baseLabels;
    }
    session = new Session(model == null ? base : model);
  }

  private void closeSession() {
    if (session != null) {
      session.close();
    }
    if (model != null) {
      model.close();
      model = null;
    }
  }
}
