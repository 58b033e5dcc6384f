package org.topwork.sample;

import java.util.function.Consumer;

/**
 * Looks at one frame after the other while the activity is resumed, never at two at once. The main
 * thread calls all methods.
 */
final class FrameLoop {
  private final Consumer<Runnable> later;
  private final Runnable look;
  private boolean isResumed;
  private boolean isPlanned;
  private boolean isLooking;

  /**
   * Makes a loop that stands still.
   *
   * @param later calls something on the main thread, after the time between two frames
   * @param look begins to look at a frame; {@link #looked} is called when that is over
   */
  FrameLoop(Consumer<Runnable> later, Runnable look) {
    this.later = later;
    this.look = look;
  }

  void resume() {
    isResumed = true;
    plan();
  }

  /** No look begins until {@link #resume}; the one in progress goes on. */
  void pause() {
    isResumed = false;
  }

  /** The look in progress is over, whatever came of it. */
  void looked() {
    isLooking = false;
    plan();
  }

  private void plan() {
    if (isResumed && !isPlanned && !isLooking) {
      isPlanned = true;
      later.accept(this::begin);
    }
  }

  private void begin() {
    isPlanned = false;
    if (isResumed) {
      isLooking = true;
      look.run();
    }
  }
}
