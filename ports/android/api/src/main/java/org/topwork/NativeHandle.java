package org.topwork;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * A native object: its address, and who may use it. Calls take turns; the object is freed once,
 * when no call uses it. It never refers to its owner, so that {@link HandleNet} sees forgotten
 * owners.
 */
final class NativeHandle {
  /** Frees or cancels a native object. */
  interface Function {
    /** Does it for the object at {@code pointer}. */
    void call(long pointer);
  }

  private final ReentrantLock turns = new ReentrantLock();
  private final Object pointerLock = new Object();
  private final String noun;
  private final Function free;
  private final Function cancel;
  private long pointer;

  /** What the native object reads in place: it must not be collected before the object is freed. */
  volatile Object keptAlive;

  /** {@code cancel} may be null: nothing of the object can be cancelled. */
  NativeHandle(Object owner, String noun, long pointer, Function free, Function cancel) {
    this.noun = noun;
    this.pointer = pointer;
    this.free = free;
    this.cancel = cancel;
    HandleNet.watch(owner, this);
  }

  /** Waits for its turn, and calls {@code body} with the address. */
  <T> T call(LongFunction<T> body) {
    refuseCallback();
    turns.lock();
    try {
      if (pointer == 0) {
        throw new IllegalStateException("this " + noun + " is closed");
      }
      return body.apply(pointer);
    } finally {
      turns.unlock();
    }
  }

  /** The same for what returns nothing. */
  void run(LongConsumer body) {
    call(
        address -> {
          body.accept(address);
          return null;
        });
  }

  /** Cancels the call in progress. Never waits for it. */
  void cancel() {
    synchronized (pointerLock) {
      if (pointer != 0 && cancel != null) {
        cancel.call(pointer);
      }
    }
  }

  /**
   * Cancels the call in progress, waits for its end and frees the object. A second time: nothing.
   */
  void close() {
    refuseCallback();
    takeTurn();
    try {
      long freed;
      synchronized (pointerLock) {
        freed = pointer;
        pointer = 0;
      }
      if (freed != 0) {
        free.call(freed);
        HandleNet.forget(this);
      }
    } finally {
      keptAlive = null;
      turns.unlock();
    }
  }

  /** Waits for its turn and cancels what runs: again, as a call may not have reached it yet. */
  private void takeTurn() {
    boolean isInterrupted = false;
    boolean isMine = turns.tryLock();
    while (!isMine) {
      cancel();
      try {
        isMine = turns.tryLock(20, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        isInterrupted = true;
      }
    }
    if (isInterrupted) {
      Thread.currentThread().interrupt();
    }
  }

  String noun() {
    return noun;
  }

  private void refuseCallback() {
    if (turns.isHeldByCurrentThread()) {
      throw new IllegalStateException("this " + noun + " was called from its own callback");
    }
  }
}
