package org.topwork;

import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** How far {@link Trainer#fit} trains. A new object has no limit; methods return the object. */
public final class FitOptions {
  int epochs;
  int maxEpochs;
  double maxSeconds;
  Predicate<TrainerProgress> progress;

  /** Sets the epochs that are done in the end, counted from the beginning. */
  public FitOptions epochs(int epochs) {
    this.epochs = epochs;
    return this;
  }

  /** Sets the most epochs of this call. */
  public FitOptions maxEpochs(int epochs) {
    this.maxEpochs = epochs;
    return this;
  }

  /** Sets the most seconds of this call. */
  public FitOptions maxSeconds(double seconds) {
    this.maxSeconds = seconds;
    return this;
  }

  /**
   * Calls {@code progress} after every epoch on the thread that trains, which waits; false stops
   * training. It must not call the trainer, but for {@link Trainer#cancel}. What it throws ends
   * training and comes out of fit.
   */
  public FitOptions onEpoch(Predicate<TrainerProgress> progress) {
    this.progress = progress;
    return this;
  }

  /** Calls {@code progress} after every epoch on the executor; training does not wait for it. */
  public FitOptions onEpoch(Executor executor, Consumer<TrainerProgress> progress) {
    return onEpoch(
        epoch -> {
          executor.execute(() -> progress.accept(epoch));
          return true;
        });
  }

  /** The same options, and an end after the epoch in which the future was cancelled. */
  FitOptions until(Future<?> cancelled) {
    return withListener(epoch -> goesOn(epoch) && !cancelled.isCancelled());
  }

  /** A copy that calls {@code progress} instead; this object stays as it is. */
  FitOptions withListener(Predicate<TrainerProgress> progress) {
    FitOptions copy = new FitOptions().epochs(epochs).maxEpochs(maxEpochs).maxSeconds(maxSeconds);
    return copy.onEpoch(progress);
  }

  /** The native code calls it. */
  boolean goesOn(TrainerProgress epoch) {
    return progress == null || progress.test(epoch);
  }
}
