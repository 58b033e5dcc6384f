package org.topwork;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Trains a new last layer for a model from labelled examples.
 *
 * <pre>{@code
 * TrainerOptions options = new TrainerOptions().classNames(Arrays.asList("cup", "plate"));
 * try (Trainer trainer = new Trainer(model, options)) {
 *   trainer.add(Examples.of(pixels, labels));
 *   trainer.fit();
 *   try (Model personal = trainer.export()) {
 *     personal.save(file);
 *   }
 * }
 * }</pre>
 */
public final class Trainer implements AutoCloseable {
  static {
    Topwork.load();
  }

  final NativeHandle handle;

  /**
   * Finds the model's head and plans the part of the model before it.
   *
   * @throws TopworkException.Unsupported if the model has no head that can be replaced
   */
  public Trainer(Model model, TrainerOptions options) {
    Objects.requireNonNull(options, "options");
    Object modelData = model.handle.keptAlive; // before the call: then the model may be closed
    long pointer = model.handle.call(model, address -> nativeCreate(address, options));
    handle = new NativeHandle(this, "Trainer", pointer, Trainer::nativeFree, Trainer::nativeCancel);
    handle.keptAlive = modelData;
  }

  /** Returns what model input {@code index} of one example (a batch of 1) looks like. */
  public TensorInfo inputInfo(int index) {
    return handle.call(this, trainer -> nativeInput(trainer, index));
  }

  /**
   * Computes the features of examples and keeps them; after a failure none of them is kept.
   *
   * @throws TopworkException.Cancelled after {@link #cancel}
   * @throws TopworkException.Numeric if a feature is not finite
   */
  public void add(Examples examples) {
    add(examples, null);
  }

  /** The same as a call that can be cancelled by its ticket, if there is one. */
  void add(Examples examples, NativeHandle.Ticket ticket) {
    handle.run(this, ticket, trainer -> nativeAdd(trainer, prepared(trainer, examples)));
  }

  /** Trains until all is done. The same as {@code fit(new FitOptions())}. */
  public boolean fit() {
    return fit(new FitOptions());
  }

  /**
   * Trains until all epochs are done, or a limit of options is reached; it goes on from there when
   * it is called again. Returns whether nothing is left to do.
   *
   * @throws TopworkException.FailedPrecondition without examples
   * @throws TopworkException.InvalidArgument if all examples are of one class
   * @throws TopworkException.Cancelled after {@link #cancel}
   * @throws TopworkException.Numeric if a weight became infinite: it stays as it was before
   */
  public boolean fit(FitOptions options) {
    return fit(options, null);
  }

  /** The same as a call that can be cancelled by its ticket, if there is one. */
  boolean fit(FitOptions options, NativeHandle.Ticket ticket) {
    Objects.requireNonNull(options, "options");
    return handle.call(this, ticket, trainer -> nativeFit(trainer, options));
  }

  /**
   * Trains on the executor. Cancelling the future cancels this training and no other call; one that
   * waits for its turn does not begin.
   */
  public CompletableFuture<Boolean> fitAsync(Executor executor, FitOptions options) {
    Objects.requireNonNull(options, "options");
    return Work.start(executor, (future, ticket) -> fit(options.until(future), ticket), handle);
  }

  /** Makes the call in progress end with {@code Cancelled}; does nothing without one. */
  public void cancel() {
    handle.cancel();
  }

  /**
   * Judges the head on the validation set.
   *
   * @throws TopworkException.FailedPrecondition if there is no validation set
   */
  public Evaluation evaluate() {
    return evaluate(null);
  }

  /** Judges the head on the examples, whose features are not kept; null: on the validation set. */
  public Evaluation evaluate(Examples examples) {
    return handle.call(this, trainer -> nativeEvaluate(trainer, prepared(trainer, examples)));
  }

  /**
   * Returns the probabilities that the exported model would give, one row after the other; labels
   * are not looked at.
   *
   * @throws IllegalArgumentException if there are more than an array takes
   */
  public float[] predict(Examples examples) {
    return handle.call(
        this,
        trainer -> {
          long most = Integer.MAX_VALUE / nativeInfo(trainer).classCount();
          if (examples != null && examples.count > most) {
            throw new IllegalArgumentException(
                examples.count + " examples are too many for one call: give " + most + " at most");
          }
          return nativePredict(trainer, prepared(trainer, examples));
        });
  }

  /**
   * Chooses the temperature that makes confidences right on the validation set, and returns it.
   *
   * @throws TopworkException.FailedPrecondition if there is no validation set
   */
  public double calibrate() {
    return handle.call(this, trainer -> nativeCalibrate(trainer));
  }

  /**
   * Replaces the classes. One whose name exists already keeps its weights and examples, new ones
   * begin with the mean feature of their examples, the others are removed.
   *
   * @throws TopworkException.InvalidArgument if a name stands twice or fewer than two remain
   */
  public void setClasses(List<String> names) {
    handle.run(this, trainer -> nativeSetClasses(trainer, Utf8.bytes(names)));
  }

  /**
   * Keeps a golden set: {@link #export} fails while the new head does worse on it than the shipped.
   */
  public void setGolden(Examples examples) {
    handle.run(this, trainer -> nativeSetGolden(trainer, prepared(trainer, examples)));
  }

  /**
   * Makes a model with the new head. The caller closes it.
   *
   * @throws TopworkException.FailedPrecondition if it does worse on the golden set
   * @throws TopworkException.Unsupported if the model's format cannot hold the head
   */
  public Model export() {
    return export(null);
  }

  /** The same as a call that does not begin if it was cancelled by its ticket, if there is one. */
  Model export(NativeHandle.Ticket ticket) {
    return handle.call(this, ticket, trainer -> new Model(nativeExport(trainer), null));
  }

  /** Writes the head alone, complete or not at all. */
  public void saveHead(File file) {
    handle.run(this, trainer -> nativeSaveHead(trainer, Utf8.bytes(file.getPath())));
  }

  /**
   * Puts a saved head in the place of the present one; its classes become the trainer's.
   *
   * @throws TopworkException.Corrupt if the file is damaged
   * @throws TopworkException.FailedPrecondition if it belongs to another model
   */
  public void loadHead(File file) {
    handle.run(this, trainer -> nativeLoadHead(trainer, Utf8.bytes(file.getPath())));
  }

  /**
   * Writes everything that training needs to go on, examples' features included, complete or not at
   * all. The file before stays as PATH.previous.
   */
  public void saveCheckpoint(File file) {
    handle.run(this, trainer -> nativeSaveCheckpoint(trainer, Utf8.bytes(file.getPath())));
  }

  /**
   * Goes back to a checkpoint of the same model and options; training goes on as if it had never
   * been interrupted. After a failure nothing is changed.
   *
   * @throws TopworkException.Corrupt if the file is damaged: the message names the sound one before
   * @throws TopworkException.FailedPrecondition if it belongs to another model or other options
   */
  public void loadCheckpoint(File file) {
    handle.run(this, trainer -> nativeLoadCheckpoint(trainer, Utf8.bytes(file.getPath())));
  }

  /** Returns what the trainer has and holds. */
  public TrainerInfo info() {
    return handle.call(this, trainer -> nativeInfo(trainer));
  }

  /** Cancels what is running, waits for its end and frees the trainer with its features. */
  @Override
  public void close() {
    handle.close();
  }

  /** Gives examples that are read one by one the buffers that they are read into. */
  private static Examples prepared(long trainer, Examples examples) {
    if (examples != null && examples.reader != null) {
      ByteBuffer[] inputs = new ByteBuffer[(int) nativeInputCount(trainer)];
      for (int i = 0; i < inputs.length; i++) {
        inputs[i] = Topwork.allocate(nativeInput(trainer, i).bytes());
      }
      examples.inputs = inputs;
    }
    return examples;
  }

  private static native long nativeCreate(long model, TrainerOptions options);

  private static native long nativeInputCount(long trainer);

  private static native void nativeFree(long trainer);

  private static native void nativeCancel(long trainer);

  private static native TensorInfo nativeInput(long trainer, int index);

  private static native TrainerInfo nativeInfo(long trainer);

  private static native void nativeAdd(long trainer, Examples examples);

  private static native boolean nativeFit(long trainer, FitOptions options);

  private static native Evaluation nativeEvaluate(long trainer, Examples examples);

  private static native float[] nativePredict(long trainer, Examples examples);

  private static native double nativeCalibrate(long trainer);

  private static native void nativeSetClasses(long trainer, byte[][] names);

  private static native void nativeSetGolden(long trainer, Examples examples);

  private static native long nativeExport(long trainer);

  private static native void nativeSaveHead(long trainer, byte[] path);

  private static native void nativeLoadHead(long trainer, byte[] path);

  private static native void nativeSaveCheckpoint(long trainer, byte[] path);

  private static native void nativeLoadCheckpoint(long trainer, byte[] path);
}
