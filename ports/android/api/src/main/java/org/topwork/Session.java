package org.topwork;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Runs a model.
 *
 * <pre>{@code
 * try (Model model = Model.open(file); Session session = new Session(model)) {
 *   session.input(0).asFloatBuffer().put(pixels);
 *   session.run();
 *   session.output(0).asFloatBuffer().get(scores);
 * }
 * }</pre>
 */
public final class Session implements AutoCloseable {
  static {
    Topwork.load();
  }

  final NativeHandle handle;
  private final Object modelData;
  private ByteBuffer[] inputs;
  private ByteBuffer[] outputs;
  private boolean[] sizeIsKnown; // of each output, before a run

  /**
   * Plans the model and takes its memory, with default options.
   *
   * @throws TopworkException.Unsupported if an operator is not supported
   * @throws TopworkException.OutOfMemory if memory does not suffice
   */
  public Session(Model model) {
    this(model, new SessionOptions());
  }

  /**
   * Plans the model and takes its memory. If a device is there but refuses the model, the CPU runs
   * it; {@link #plan} tells why.
   *
   * @throws TopworkException.Unsupported if an operator or the device is not supported
   * @throws TopworkException.OutOfMemory if memory does not suffice
   * @throws TopworkException.NotFound if there is no such signature or device
   */
  public Session(Model model, SessionOptions options) {
    modelData = model.handle.keptAlive;
    handle = newHandle(model.handle.call(model, address -> create(address, options)));
    prepare();
  }

  private Session(long pointer, Object modelData) {
    this.modelData = modelData;
    handle = newHandle(pointer);
    prepare();
  }

  /**
   * Makes another session with the same options and shapes, which shares the packed weights. With
   * two, one is fed while the other runs.
   */
  public Session another() {
    return handle.call(this, session -> new Session(nativeClone(session), modelData));
  }

  /** Returns the number of inputs. */
  public int inputCount() {
    return inputs.length;
  }

  /** Returns the number of outputs. */
  public int outputCount() {
    return outputs.length;
  }

  /** Returns what input {@code index} looks like; after a resize, once it was prepared. */
  public TensorInfo inputInfo(int index) {
    return info(index, true);
  }

  /**
   * Returns what output {@code index} looks like; where its size depends on data, in the last run.
   */
  public TensorInfo outputInfo(int index) {
    return info(index, false);
  }

  /**
   * Returns the position of the input of that name.
   *
   * @throws TopworkException.NotFound if there is none: the message lists the names
   */
  public int inputIndex(String name) {
    return index(name, true);
  }

  /**
   * Returns the position of the output of that name.
   *
   * @throws TopworkException.NotFound if there is none: the message lists the names
   */
  public int outputIndex(String name) {
    return index(name, false);
  }

  /**
   * Returns the memory that runs read input {@code index} from, {@code inputInfo(index).bytes()}
   * bytes that are 0 at first, with position 0. It is the same memory until the next resize.
   *
   * @throws TopworkException.Unsupported for strings
   */
  public ByteBuffer input(int index) {
    return handle.call(
        this,
        session -> {
          prepare(session);
          if (inputs[index] == null) {
            inputs[index] = bind(session, index, true, null);
          }
          return view(inputs[index]);
        });
  }

  /**
   * Returns the memory that runs write output {@code index} to, with position 0: the same memory
   * until the next resize. Where the output's size depends on data, it is a copy of the last run's
   * values instead.
   *
   * @throws TopworkException.Unsupported for strings
   */
  public ByteBuffer output(int index) {
    return handle.call(
        this,
        session -> {
          prepare(session);
          if (outputs[index] == null) {
            ByteBuffer memory = Topwork.allocate(nativeTensor(session, index, false).bytes());
            nativeRead(session, index, memory);
            if (!sizeIsKnown[index]) {
              return memory;
            }
            outputs[index] = bind(session, index, false, memory);
          }
          return view(outputs[index]);
        });
  }

  /**
   * Makes runs read input {@code index} from the caller's direct buffer, from its position on,
   * without a copy. A resize ends it.
   *
   * @throws IllegalArgumentException if the buffer is not direct
   * @throws TopworkException.InvalidArgument if it is too small or begins amid an element
   */
  public void bindInput(int index, ByteBuffer buffer) {
    handle.run(
        this,
        session -> {
          prepare(session);
          inputs[index] = bind(session, index, true, Topwork.direct(buffer));
        });
  }

  /** Makes runs write output {@code index} to the caller's direct buffer, as {@link #bindInput}. */
  public void bindOutput(int index, ByteBuffer buffer) {
    handle.run(
        this,
        session -> {
          prepare(session);
          outputs[index] = bind(session, index, false, Topwork.direct(buffer));
        });
  }

  /** Writes an input of strings; as many texts as the input has elements. */
  public void writeStrings(int index, List<String> texts) {
    handle.run(this, session -> nativeWriteStrings(session, index, Utf8.bytes(texts)));
  }

  /** Returns the values of an output of strings in the last run. */
  public List<String> readStrings(int index) {
    return handle.call(this, session -> Utf8.strings(nativeReadStrings(session, index)));
  }

  /**
   * Asks for another shape of an input, say another batch size. It takes effect at the next {@link
   * #prepare} or {@link #run}; all buffers of inputs and outputs must be asked for anew then.
   *
   * @throws TopworkException.InvalidArgument if there is no such input or shape: nothing changes
   */
  public void resizeInput(int index, int... shape) {
    Objects.requireNonNull(shape, "shape");
    handle.run(
        this,
        session -> {
          ByteBuffer[] boundInputs = inputs.clone();
          ByteBuffer[] boundOutputs = outputs.clone();
          unbind(session); // first: to bind is to prepare, which refuses buffers of the old size
          try {
            nativeResize(session, index, shape);
          } catch (TopworkException e) {
            rebind(session, boundInputs, true);
            rebind(session, boundOutputs, false);
            throw e;
          }
        });
  }

  /**
   * Plans anew after a resize, and does nothing otherwise.
   *
   * @throws TopworkException.InvalidArgument if the model cannot take the shapes: the old ones stay
   */
  public void prepare() {
    handle.run(this, session -> prepare(session));
  }

  /**
   * Computes the outputs from the inputs.
   *
   * @throws TopworkException.Cancelled after {@link #cancel}
   * @throws TopworkException.InvalidArgument if a value (an index) is out of range
   */
  public void run() {
    run(null);
  }

  /** The same as a call that can be cancelled by its ticket, if there is one. */
  void run(NativeHandle.Ticket ticket) {
    handle.run(
        this,
        ticket,
        session -> {
          prepare(session);
          handle.refuseCancelled(ticket);
          nativeRun(session);
        });
  }

  /**
   * Runs on the executor. Cancelling the future cancels this run and no other; one that waits for
   * its turn does not begin. Buffers belong to the run until it has ended, which {@link #input} and
   * {@link #output} wait for.
   */
  public CompletableFuture<Void> runAsync(Executor executor) {
    return Work.start(
        executor,
        (future, ticket) -> {
          run(ticket);
          return null;
        },
        handle);
  }

  /** Makes the run in progress end with {@code Cancelled}; does nothing without one. */
  public void cancel() {
    handle.cancel();
  }

  /** Sets variables of a model that keeps state back to their initial values. */
  public void resetState() {
    handle.run(this, session -> nativeResetState(session));
  }

  /** Describes the plan that runs, a line for each step: operator, device, kernel, shape. */
  public String plan() {
    return handle.call(this, session -> Utf8.string(nativePlan(session)));
  }

  /** Returns the native memory that this session holds itself, in bytes. */
  public long memoryBytes() {
    return handle.call(this, session -> nativeMemoryBytes(session));
  }

  /** Cancels a run, waits for its end and frees the session. A second call does nothing. */
  @Override
  public void close() {
    handle.close();
  }

  private static long create(long model, SessionOptions options) {
    return options.stateOf == null
        ? nativeCreate(model, options, 0)
        : options.stateOf.handle.call(
            options.stateOf, state -> nativeCreate(model, options, state));
  }

  private NativeHandle newHandle(long pointer) {
    return new NativeHandle(this, "Session", pointer, Session::nativeFree, Session::nativeCancel);
  }

  private static ByteBuffer view(ByteBuffer memory) {
    return memory.duplicate().order(ByteOrder.nativeOrder());
  }

  /** Binds `memory`, or new memory of the right size, and keeps it alive. */
  private ByteBuffer bind(long session, int index, boolean isInput, ByteBuffer memory) {
    ByteBuffer bound =
        memory != null ? memory : Topwork.allocate(nativeTensor(session, index, isInput).bytes());
    nativeBind(session, index, isInput, bound);
    return bound;
  }

  private void unbind(long session) {
    for (int i = 0; i < inputs.length; i++) {
      if (inputs[i] != null) {
        nativeBind(session, i, true, null);
        inputs[i] = null;
      }
    }
    for (int i = 0; i < outputs.length; i++) {
      if (outputs[i] != null) {
        nativeBind(session, i, false, null);
        outputs[i] = null;
      }
    }
    sizeIsKnown = null;
  }

  private void rebind(long session, ByteBuffer[] bound, boolean isInput) {
    ByteBuffer[] places = isInput ? inputs : outputs;
    for (int i = 0; i < bound.length; i++) {
      if (bound[i] != null) {
        places[i] = bind(session, i, isInput, bound[i]);
      }
    }
  }

  private void prepare(long session) {
    if (sizeIsKnown != null) {
      return;
    }
    nativePrepare(session);
    int[] counts = nativeCounts(session);
    if (inputs == null) {
      inputs = new ByteBuffer[counts[0]];
      outputs = new ByteBuffer[counts[1]];
      handle.keptAlive = Arrays.asList(modelData, inputs, outputs);
    }
    boolean[] known = new boolean[outputs.length];
    for (int i = 0; i < known.length; i++) {
      known[i] = nativeTensor(session, i, false).hasMemory();
    }
    sizeIsKnown = known;
  }

  private TensorInfo info(int index, boolean isInput) {
    return handle.call(this, session -> nativeTensor(session, index, isInput));
  }

  private int index(String name, boolean isInput) {
    return handle.call(this, session -> nativeFind(session, Utf8.bytes(name), isInput));
  }

  private static native long nativeCreate(long model, SessionOptions options, long state);

  private static native long nativeClone(long session);

  private static native void nativeFree(long session);

  private static native int[] nativeCounts(long session);

  private static native TensorInfo nativeTensor(long session, int index, boolean isInput);

  private static native int nativeFind(long session, byte[] name, boolean isInput);

  private static native void nativeBind(
      long session, int index, boolean isInput, ByteBuffer memory);

  private static native void nativeRead(long session, int index, ByteBuffer memory);

  private static native void nativeWriteStrings(long session, int index, byte[][] texts);

  private static native byte[][] nativeReadStrings(long session, int index);

  private static native void nativeResize(long session, int index, int[] shape);

  private static native void nativePrepare(long session);

  private static native void nativeRun(long session);

  private static native void nativeCancel(long session);

  private static native void nativeResetState(long session);

  private static native byte[] nativePlan(long session);

  private static native long nativeMemoryBytes(long session);
}
