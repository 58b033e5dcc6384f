package org.topwork;

import java.util.List;

/** What a trainer has and holds. */
public final class TrainerInfo {
  private final List<String> classNames;
  private final String head;
  private final String device;
  private final long[] numbers;

  /** The native code calls it; the order of numbers is that of trainer_info.cc. */
  TrainerInfo(byte[][] classNames, byte[] head, byte[] device, long[] numbers) {
    this.classNames = Utf8.strings(classNames);
    this.head = Utf8.string(head);
    this.device = Utf8.string(device);
    this.numbers = numbers;
  }

  /** Returns the names of the classes; empty if they have none. */
  public List<String> classNames() {
    return classNames;
  }

  /** Returns the operator that training replaces, "FULLY_CONNECTED". */
  public String head() {
    return head;
  }

  /** Returns where the last steps were taken: "cpu", or the name of an OpenCL device. */
  public String device() {
    return device;
  }

  /** Returns the numbers of a feature vector. */
  public long featureCount() {
    return numbers[0];
  }

  /** Returns the number of classes. */
  public long classCount() {
    return numbers[1];
  }

  /** Returns the examples that were added, the validation set included. */
  public long exampleCount() {
    return numbers[2];
  }

  /** Returns the examples of the validation set; 0 until training or an evaluation began. */
  public long validationCount() {
    return numbers[3];
  }

  /** Returns the examples whose features came from the cache. */
  public long cachedCount() {
    return numbers[4];
  }

  /** Returns the epochs that are done. */
  public long epochsDone() {
    return numbers[5];
  }

  /** Tells whether nothing is left to train. */
  public boolean isFinished() {
    return numbers[6] != 0;
  }

  /** Returns the memory that training has needed at most, in bytes. */
  public long memoryBytes() {
    return numbers[7];
  }
}
