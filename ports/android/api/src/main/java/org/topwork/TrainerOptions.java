package org.topwork;

import java.io.File;
import java.util.List;

/**
 * What a training run depends on. A new object has the defaults; methods return the object itself.
 * A number that is not set is the library's default.
 */
public final class TrainerOptions {
  /** How the head is fitted. Ordinals are the numbers of {@code tw_optimizer}. */
  public enum Optimizer {
    SGD,
    ADAM,
    ADAMW,
    LBFGS,
    /** The closed form of ridge regression; over after one epoch. */
    RIDGE,
    /** Normalized mean features: enough for a few examples of a new class; over after one epoch. */
    IMPRINT,
    /**
     * The best of several by examples left out; over after one epoch. With an option that only
     * steps have it stands for ADAM, see {@code TW_OPTIMIZER_AUTO}.
     */
    AUTO,
    /** Nearest neighbours: examples are stored and compared, for identities of few pictures. */
    KNN
  }

  /** How the head begins. Ordinals are the numbers of {@code tw_head_init}. */
  public enum HeadInit {
    ZEROS,
    /** The model's own head; the number of classes must be the same. */
    SHIPPED,
    /** The normalized mean feature of each class. */
    IMPRINT
  }

  // The native code reads these fields; -1 and null stand for the library's default.
  long classCount = -1;
  byte[][] classNames;
  int optimizer = -1;
  int headInit = -1;
  float learningRate = -1;
  float weightDecay = -1;
  int epochs = -1;
  int batchSize = -1;
  int patience = -1;
  int threads = -1;
  long seed = -1;
  float validationFraction = -1;
  int variants = -1;
  boolean flip;
  float crop;
  float brightness;
  float noise;
  boolean keepInFloat;
  boolean balanceClasses;
  long replayCapacity = -1;
  long memoryLimitBytes = -1;
  byte[] device;
  byte[] featureCache;
  byte[] preprocessing;
  byte[] output;
  float[] inputMean = {};
  float[] inputStd = {};

  /** Sets the number of classes, 2 or more; the default is the model's own. */
  public TrainerOptions classCount(long classes) {
    this.classCount = classes;
    return this;
  }

  /** Sets the classes by their names, which the exported model has as labels. */
  public TrainerOptions classNames(List<String> names) {
    this.classNames = Utf8.bytes(names);
    this.classCount = names.size();
    return this;
  }

  /** Sets the optimizer; the default is AUTO. */
  public TrainerOptions optimizer(Optimizer optimizer) {
    this.optimizer = optimizer.ordinal();
    return this;
  }

  /** Sets how the head begins; the default is ZEROS. */
  public TrainerOptions headInit(HeadInit init) {
    this.headInit = init.ordinal();
    return this;
  }

  /** Sets the learning rate; by default it is chosen from the features. */
  public TrainerOptions learningRate(float rate) {
    this.learningRate = rate;
    return this;
  }

  /** Sets the L2 penalty on the weights; the default is 0. */
  public TrainerOptions weightDecay(float decay) {
    this.weightDecay = decay;
    return this;
  }

  /** Sets the epochs; the default is 20. */
  public TrainerOptions epochs(int epochs) {
    this.epochs = epochs;
    return this;
  }

  /** Sets the examples in a training step; the default is 32. */
  public TrainerOptions batchSize(int examples) {
    this.batchSize = examples;
    return this;
  }

  /**
   * Makes training stop when the loss has not fallen for so many epochs; by default it does not.
   */
  public TrainerOptions patience(int epochs) {
    this.patience = epochs;
    return this;
  }

  /** Sets the threads; by default one for each processor. Results do not depend on it. */
  public TrainerOptions threads(int threads) {
    this.threads = threads;
    return this;
  }

  /** Sets the seed of splitting and shuffling, 0 or more; the default is 1. */
  public TrainerOptions seed(long seed) {
    this.seed = seed;
    return this;
  }

  /**
   * Sets the share of each class's examples that judges training, in [0, 1); the default is 0.2.
   */
  public TrainerOptions validationFraction(float fraction) {
    this.validationFraction = fraction;
    return this;
  }

  /**
   * Adds variants of each image example: mirrored if {@code flip}, up to a share {@code crop} of
   * each side cut off, up to shares of the input's range added as brightness and noise.
   */
  public TrainerOptions augmentation(
      int variants, boolean flip, float crop, float brightness, float noise) {
    this.variants = variants;
    this.flip = flip;
    this.crop = crop;
    this.brightness = brightness;
    this.noise = noise;
    return this;
  }

  /** Sets whether the new head of a quantized model computes in float32. */
  public TrainerOptions keepInFloat(boolean keepInFloat) {
    this.keepInFloat = keepInFloat;
    return this;
  }

  /** Sets whether all classes count the same, however many examples each has. */
  public TrainerOptions balanceClasses(boolean balance) {
    this.balanceClasses = balance;
    return this;
  }

  /** Keeps at most so many examples, chosen by chance and balanced over the classes. */
  public TrainerOptions replayCapacity(long examples) {
    this.replayCapacity = examples;
    return this;
  }

  /** Sets the limit of the backbone's memory in bytes. */
  public TrainerOptions memoryLimitBytes(long bytes) {
    this.memoryLimitBytes = bytes;
    return this;
  }

  /** Sets where to compute, as {@link SessionOptions#device}. */
  public TrainerOptions device(String device) {
    this.device = Utf8.bytes(device);
    return this;
  }

  /** Sets the file that keeps features for the next run. */
  public TrainerOptions featureCache(File file) {
    this.featureCache = Utf8.bytes(file.getPath());
    return this;
  }

  /** Says how inputs were made: features that were made otherwise are not taken from the cache. */
  public TrainerOptions preprocessing(String text) {
    this.preprocessing = Utf8.bytes(text);
    return this;
  }

  /** Sets the name of the output that the head leads to; the default is the first one. */
  public TrainerOptions output(String name) {
    this.output = Utf8.bytes(name);
    return this;
  }

  /** Records in exported models how inputs are made: (value - mean) / std, as many of each. */
  public TrainerOptions inputScale(float[] mean, float[] std) {
    if (mean.length != std.length) {
      throw new IllegalArgumentException("mean and std must have as many numbers");
    }
    this.inputMean = mean.clone();
    this.inputStd = std.clone();
    return this;
  }
}
