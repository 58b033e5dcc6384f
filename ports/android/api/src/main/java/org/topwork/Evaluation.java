package org.topwork;

/** How well a head classifies examples. */
public final class Evaluation {
  private final long examples;
  private final int classes;
  private final double[] numbers;
  private final double[] precision;
  private final double[] recall;
  private final long[] confusion;

  /** The native code calls it; the order of numbers is that of trainer_evaluate.cc. */
  Evaluation(
      long examples,
      int classes,
      double[] numbers,
      double[] precision,
      double[] recall,
      long[] confusion) {
    this.examples = examples;
    this.classes = classes;
    this.numbers = numbers;
    this.precision = precision;
    this.recall = recall;
    this.confusion = confusion;
  }

  /** Returns the number of examples that were judged. */
  public long examples() {
    return examples;
  }

  /** Returns the number of classes. */
  public int classes() {
    return classes;
  }

  /** Returns the mean loss, with natural logarithms. */
  public double loss() {
    return numbers[0];
  }

  /** Returns the share of examples that were classified right, 0 to 1. */
  public double accuracy() {
    return numbers[1];
  }

  /** Returns the mean F1 of the classes, 0 to 1. */
  public double macroF1() {
    return numbers[2];
  }

  /** Returns the expected calibration error, 0 to 1. */
  public double calibrationError() {
    return numbers[3];
  }

  /** Returns the share of the examples taken for this class that are of it. */
  public double precision(int index) {
    return precision[index];
  }

  /** Returns the share of the examples of this class that was found. */
  public double recall(int index) {
    return recall[index];
  }

  /** Returns how many examples of class {@code truth} were taken for class {@code predicted}. */
  public long confusion(int truth, int predicted) {
    if (confusion == null) {
      throw new IllegalStateException("with more than 4096 classes nothing is counted by pairs");
    }
    return confusion[truth * classes + predicted];
  }
}
