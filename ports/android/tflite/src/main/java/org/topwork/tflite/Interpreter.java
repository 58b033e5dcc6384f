package org.topwork.tflite;

import java.io.File;
import java.nio.ByteBuffer;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.tensorflow.lite.Delegate;
import org.tensorflow.lite.DelegateFactory;
import org.tensorflow.lite.InterpreterApi;
import org.tensorflow.lite.Tensor;
import org.topwork.Model;
import org.topwork.Precision;
import org.topwork.Session;
import org.topwork.SessionOptions;
import org.topwork.TopworkException;

/**
 * Runs a model as {@code org.tensorflow.lite.Interpreter} does. Inputs are arrays, of any number of
 * dimensions, or buffers; an array of another shape resizes the input.
 *
 * <p>What differs: {@link Tensor#index} is the position among the inputs or outputs; delegates are
 * not called, but ask for {@code Options.setDevice("auto")}; a wrong model or argument is an {@link
 * IllegalArgumentException} whose cause is the {@link TopworkException}. Calls of several threads
 * must not overlap, but for {@link #setCancelled}.
 */
public final class Interpreter implements InterpreterApi {
  private final Model model;
  private final Session main;
  private final Options options;
  private final Map<String, Session> signatures = new HashMap<>();
  private final Map<Session, Inputs> inputs = new HashMap<>();
  private final Object cancelLock = new Object();
  private boolean isCancelled; // guarded by cancelLock, as the next
  private Session running;
  private long lastRunNanos = -1;

  /**
   * Options of an interpreter. NNAPI, XNNPACK, runtimes and acceleration settings of the interface
   * are accepted and mean nothing.
   */
  public static class Options extends InterpreterApi.Options {
    private String device;
    private File cacheDir;
    private boolean float16;

    /** Makes the default options. */
    public Options() {}

    /**
     * Copies options.
     *
     * @param options of this class or of the interface; null: the defaults
     */
    public Options(InterpreterApi.Options options) {
      super(options == null ? new InterpreterApi.Options() : options);
      if (options instanceof Options) {
        Options other = (Options) options;
        device = other.device;
        cacheDir = other.cacheDir;
        float16 = other.float16;
      }
    }

    /**
     * Sets where to compute, as {@link SessionOptions#device}. The default is "cpu", and "auto" if
     * a delegate was added.
     */
    public Options setDevice(String device) {
      this.device = device;
      return this;
    }

    /** Sets the folder that keeps what is learnt of devices. */
    public Options setCacheDir(File folder) {
      this.cacheDir = folder;
      return this;
    }

    /** Sets whether float32 models may compute with 16 bits. */
    public Options setAllowFp16PrecisionForFp32(boolean allow) {
      this.float16 = allow;
      return this;
    }

    @Override
    public Options setNumThreads(int threads) {
      super.setNumThreads(threads);
      return this;
    }

    @Override
    public Options setUseNNAPI(boolean use) {
      super.setUseNNAPI(use);
      return this;
    }

    @Override
    public Options setUseXNNPACK(boolean use) {
      super.setUseXNNPACK(use);
      return this;
    }

    @Override
    public Options setCancellable(boolean cancellable) {
      super.setCancellable(cancellable);
      return this;
    }

    @Override
    public Options addDelegate(Delegate delegate) {
      super.addDelegate(delegate);
      return this;
    }

    @Override
    public Options addDelegateFactory(DelegateFactory factory) {
      super.addDelegateFactory(factory);
      return this;
    }

    /** The same for a session. */
    SessionOptions session() {
      boolean hasDelegate = !getDelegates().isEmpty() || !getDelegateFactories().isEmpty();
      SessionOptions session =
          new SessionOptions()
              .threads(Math.max(0, getNumThreads()))
              .device(device != null ? device : hasDelegate ? "auto" : "cpu")
              .precision(float16 ? Precision.FLOAT16 : Precision.FLOAT32);
      return cacheDir == null ? session : session.cacheDir(cacheDir);
    }
  }

  /** Opens a file with default options. */
  public Interpreter(File file) {
    this(file, null);
  }

  /**
   * Opens a file.
   *
   * @param options null: the defaults
   * @throws IllegalArgumentException if the file is no model that the library supports
   */
  public Interpreter(File file, InterpreterApi.Options options) {
    this(options, () -> Model.open(file));
  }

  /** Opens a model in memory with default options. */
  public Interpreter(ByteBuffer data) {
    this(data, null);
  }

  /**
   * Opens a model in memory, which must not be changed while the interpreter is open.
   *
   * @param options null: the defaults
   * @throws IllegalArgumentException if the buffer holds no model that the library supports
   */
  public Interpreter(ByteBuffer data, InterpreterApi.Options options) {
    this(options, () -> Model.open(data));
  }

  private Interpreter(InterpreterApi.Options options, Supplier<Model> open) {
    this.options = new Options(options);
    model = Failures.translated(open);
    try {
      main = Failures.translated(() -> new Session(model, this.options.session()));
    } catch (RuntimeException e) {
      model.close();
      throw e;
    }
  }

  @Override
  public void run(Object input, Object output) {
    runForMultipleInputsOutputs(new Object[] {input}, Collections.singletonMap(0, output));
  }

  @Override
  public void runForMultipleInputsOutputs(Object[] inputs, Map<Integer, Object> outputs) {
    if (inputs == null || inputs.length == 0 || outputs == null) {
      throw new IllegalArgumentException("inputs must not be null or empty, outputs not null");
    }
    Map<Integer, Object> places = new HashMap<>();
    for (int i = 0; i < inputs.length; i++) {
      places.put(i, inputs[i]);
    }
    Failures.translated(() -> run(main, places, outputs));
  }

  /**
   * Runs a signature.
   *
   * @param inputs values by the signature's names
   * @param outputs where outputs go, by the signature's names
   */
  public void runSignature(
      Map<String, Object> inputs, Map<String, Object> outputs, String signatureKey) {
    Session session = session(signatureKey);
    Failures.translated(
        () -> {
          Map<Integer, Object> places = new HashMap<>();
          inputs.forEach((name, value) -> places.put(session.inputIndex(name), value));
          Map<Integer, Object> results = new HashMap<>();
          outputs.forEach((name, value) -> results.put(session.outputIndex(name), value));
          return run(session, places, results);
        });
  }

  /** Runs the model's only signature. */
  public void runSignature(Map<String, Object> inputs, Map<String, Object> outputs) {
    if (getSignatureKeys().length != 1) {
      throw new IllegalArgumentException("the model does not have one signature: name one");
    }
    runSignature(inputs, outputs, getSignatureKeys()[0]);
  }

  @Override
  public void allocateTensors() {
    Failures.translated(inputs(main)::prepare);
  }

  @Override
  public void resizeInput(int index, int[] shape) {
    resizeInput(index, shape, false);
  }

  @Override
  public void resizeInput(int index, int[] shape, boolean strict) {
    Failures.translated(
        () -> {
          if (strict) {
            Values.checkOpen(main.inputInfo(index), shape);
          }
          inputs(main).resize(index, shape);
        });
  }

  @Override
  public int getInputTensorCount() {
    return main.inputCount();
  }

  @Override
  public int getInputIndex(String name) {
    return Failures.translated(() -> main.inputIndex(name));
  }

  @Override
  public Tensor getInputTensor(int index) {
    return tensor(main, index, true);
  }

  @Override
  public int getOutputTensorCount() {
    return main.outputCount();
  }

  @Override
  public int getOutputIndex(String name) {
    return Failures.translated(() -> main.outputIndex(name));
  }

  @Override
  public Tensor getOutputTensor(int index) {
    return tensor(main, index, false);
  }

  /** Returns the keys of the model's signatures. */
  public String[] getSignatureKeys() {
    return model.info().signatures().toArray(new String[0]);
  }

  /** Returns the names of a signature's inputs. */
  public String[] getSignatureInputs(String signatureKey) {
    Session session = session(signatureKey);
    String[] names = new String[session.inputCount()];
    for (int i = 0; i < names.length; i++) {
      names[i] = session.inputInfo(i).name();
    }
    return names;
  }

  /** Returns the names of a signature's outputs. */
  public String[] getSignatureOutputs(String signatureKey) {
    Session session = session(signatureKey);
    String[] names = new String[session.outputCount()];
    for (int i = 0; i < names.length; i++) {
      names[i] = session.outputInfo(i).name();
    }
    return names;
  }

  /** Returns the input that a signature calls {@code inputName}. */
  public Tensor getInputTensorFromSignature(String inputName, String signatureKey) {
    Session session = session(signatureKey);
    return tensor(session, Failures.translated(() -> session.inputIndex(inputName)), true);
  }

  /** Returns the output that a signature calls {@code outputName}. */
  public Tensor getOutputTensorFromSignature(String outputName, String signatureKey) {
    Session session = session(signatureKey);
    return tensor(session, Failures.translated(() -> session.outputIndex(outputName)), false);
  }

  /** Returns the nanoseconds of the last run; null if there was none. */
  @Override
  public Long getLastNativeInferenceDurationNanoseconds() {
    return lastRunNanos < 0 ? null : lastRunNanos;
  }

  /** Sets the model's variables back to their initial values. */
  public void resetVariableTensors() {
    main.resetState();
  }

  /**
   * Stops runs: the one in progress and, until it is called with false, those after it.
   *
   * @throws IllegalStateException unless {@code Options.setCancellable(true)} was called
   */
  public void setCancelled(boolean cancelled) {
    if (!Boolean.TRUE.equals(options.isCancellable())) {
      throw new IllegalStateException("call Options.setCancellable(true) first");
    }
    synchronized (cancelLock) {
      isCancelled = cancelled;
      if (cancelled && running != null) {
        running.cancel();
      }
    }
  }

  /** Frees the model and its sessions. */
  @Override
  public void close() {
    signatures.values().forEach(Session::close);
    main.close();
    model.close();
  }

  private Session session(String signatureKey) {
    return signatures.computeIfAbsent(
        signatureKey, key -> Failures.translated(() -> signatureSession(key)));
  }

  private Session signatureSession(String key) {
    SessionOptions shared = options.session().signature(key).shareStateWith(main);
    return new Session(model, shared);
  }

  private Inputs inputs(Session session) {
    return inputs.computeIfAbsent(session, Inputs::new);
  }

  private Tensor tensor(Session session, int index, boolean isInput) {
    return new SessionTensor(session, inputs(session), index, isInput);
  }

  private Void run(Session session, Map<Integer, Object> values, Map<Integer, Object> outputs) {
    Inputs inputs = inputs(session);
    values.forEach((index, value) -> Values.resizeIfDifferent(inputs, index, value));
    inputs.prepare();
    values.forEach((index, value) -> Values.write(session, index, value));
    long start = System.nanoTime();
    setRunning(session);
    try {
      session.run();
    } catch (TopworkException.Cancelled e) {
      throw new IllegalStateException("the interpreter was cancelled", e);
    } finally {
      synchronized (cancelLock) {
        running = null;
      }
    }
    lastRunNanos = System.nanoTime() - start;
    outputs.forEach((index, value) -> Values.read(session, index, value));
    return null;
  }

  private void setRunning(Session session) {
    synchronized (cancelLock) {
      if (isCancelled) {
        throw new IllegalStateException("the interpreter is cancelled until setCancelled(false)");
      }
      running = session;
    }
  }
}
