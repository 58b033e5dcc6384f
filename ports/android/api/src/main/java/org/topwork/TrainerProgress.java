package org.topwork;

/** An epoch of training. */
public final class TrainerProgress {
  private final long epoch;
  private final long epochs;
  private final double trainLoss;
  private final double trainAccuracy;
  private final double validationLoss;
  private final double validationAccuracy;
  private final double seconds;

  /** The native code calls it. */
  TrainerProgress(
      long epoch,
      long epochs,
      double trainLoss,
      double trainAccuracy,
      double validationLoss,
      double validationAccuracy,
      double seconds) {
    this.epoch = epoch;
    this.epochs = epochs;
    this.trainLoss = trainLoss;
    this.trainAccuracy = trainAccuracy;
    this.validationLoss = validationLoss;
    this.validationAccuracy = validationAccuracy;
    this.seconds = seconds;
  }

  /** Returns the number of the epoch, from 1. */
  public long epoch() {
    return epoch;
  }

  /** Returns how many epochs there are to be. */
  public long epochs() {
    return epochs;
  }

  /** Returns the mean loss over the epoch. */
  public double trainLoss() {
    return trainLoss;
  }

  /** Returns the accuracy while the weights changed, 0 to 1. */
  public double trainAccuracy() {
    return trainAccuracy;
  }

  /** Returns the loss on the validation set; NaN if there is none. */
  public double validationLoss() {
    return validationLoss;
  }

  /** Returns the accuracy on the validation set, 0 to 1; NaN if there is none. */
  public double validationAccuracy() {
    return validationAccuracy;
  }

  /** Returns the seconds that the epoch took. */
  public double seconds() {
    return seconds;
  }
}
