package org.topwork;

import java.io.File;

/** How a model is to be run. A new object has the defaults; methods return the object itself. */
public final class SessionOptions {
  // The native code reads these fields.
  int threads;
  byte[] device;
  byte[] signature;
  byte[] cacheDir;
  long memoryLimitBytes;
  int precision;
  int[][] inputShapes;
  int tuneMillis;
  boolean lowPriority;
  Session stateOf; // Java gives its address

  /** Sets the threads that a run uses, the caller's included; 0, the default: what pays. */
  public SessionOptions threads(int threads) {
    this.threads = threads;
    return this;
  }

  /**
   * Sets where to compute: "auto" (the default; the faster of the CPU and the GPU), "cpu",
   * "opencl", or a {@link Device#id()}.
   */
  public SessionOptions device(String device) {
    this.device = Utf8.bytes(device);
    return this;
  }

  /** Sets the signature to run; the default is the main subgraph. */
  public SessionOptions signature(String signature) {
    this.signature = Utf8.bytes(signature);
    return this;
  }

  /**
   * Sets the folder that keeps what is learnt of devices, such as compiled kernels: {@code
   * context.getCacheDir()}. Without one, nothing is kept on Android.
   */
  public SessionOptions cacheDir(File folder) {
    this.cacheDir = Utf8.bytes(folder.getPath());
    return this;
  }

  /** Sets the limit of native memory in bytes; 0, the default: half of the machine's memory. */
  public SessionOptions memoryLimitBytes(long bytes) {
    this.memoryLimitBytes = bytes;
    return this;
  }

  /** Sets how floats are stored and multiplied; the default is {@link Precision#FLOAT32}. */
  public SessionOptions precision(Precision precision) {
    this.precision = precision.ordinal();
    return this;
  }

  /** Sets the shapes to begin with, one for each input; the default is the model's own. */
  public SessionOptions inputShapes(int[]... shapes) {
    this.inputShapes = shapes;
    return this;
  }

  /** Sets for how many milliseconds a GPU's kernels may be measured; 0, the default: not at all. */
  public SessionOptions tuneMillis(int millis) {
    this.tuneMillis = millis;
    return this;
  }

  /** Sets whether the GPU gives way to other work, above all to the display. */
  public SessionOptions lowPriority(boolean lowPriority) {
    this.lowPriority = lowPriority;
    return this;
  }

  /**
   * Sets a session of the same model whose variables the new one shares, as the signatures to train
   * and to infer do. Runs of the two take turns; either may be closed first.
   */
  public SessionOptions shareStateWith(Session session) {
    this.stateOf = session;
    return this;
  }
}
