package org.topwork;

import java.util.concurrent.CountDownLatch;

/** Waiting for other threads. */
final class Waiting {
  private Waiting() {}

  /** Waits for the latch. */
  static void until(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits until so many calls of the handle wait for their turn. */
  static void untilWaiting(NativeHandle handle, int calls) {
    while (handle.waiting() < calls) {
      Thread.yield();
    }
  }
}
