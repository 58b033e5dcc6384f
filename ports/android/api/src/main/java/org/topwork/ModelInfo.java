package org.topwork;

import java.util.List;

/** What a model's author says of it. */
public final class ModelInfo {
  private final String description;
  private final List<String> labels;
  private final List<String> signatures;
  private final float[] inputMean;
  private final float[] inputStd;
  private final int inputs;
  private final int outputs;

  /** The native code calls it. */
  ModelInfo(
      byte[] description,
      byte[][] labels,
      byte[][] signatures,
      float[] inputMean,
      float[] inputStd,
      int inputs,
      int outputs) {
    this.description = Utf8.string(description);
    this.labels = Utf8.strings(labels);
    this.signatures = Utf8.strings(signatures);
    this.inputMean = inputMean;
    this.inputStd = inputStd;
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /** Returns the author's text; may be "". */
  public String description() {
    return description;
  }

  /** Returns the class names of the model's metadata; empty if it has none. */
  public List<String> labels() {
    return labels;
  }

  /** Returns the named ways to call the model, such as "serving_default". */
  public List<String> signatures() {
    return signatures;
  }

  /**
   * Returns what is subtracted from pixels of 0 to 255: no, one or a number for each channel. No
   * number means that the metadata does not say.
   */
  public float[] inputMean() {
    return inputMean.clone();
  }

  /** Returns what pixels are divided by after the mean was subtracted; as many numbers. */
  public float[] inputStd() {
    return inputStd.clone();
  }

  /** Returns the number of inputs of the main subgraph. */
  public int inputs() {
    return inputs;
  }

  /** Returns the number of outputs of the main subgraph. */
  public int outputs() {
    return outputs;
  }
}
