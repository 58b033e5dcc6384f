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

  /** One call, by which it alone can be cancelled: while it waits for its turn, and in its turn. */
  static final class Ticket {
    private boolean isCancelled; // guarded by the handle's pointerLock
  }

  private final ReentrantLock turns = new ReentrantLock();
  private final Object pointerLock = new Object();
  private final String noun;
  private final Function free;
  private final Function cancel;
  private long pointer;
  private Ticket served; // of the call whose turn it is; guarded by pointerLock
  private volatile Object ownerInCall;

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

  /**
   * Waits for its turn, and calls {@code body} with the address. The handle refers to the owner
   * meanwhile: nothing else may, and {@link HandleNet} would close the handle amid the call.
   */
  <T> T call(Object owner, LongFunction<T> body) {
    return call(owner, null, body);
  }

  /**
   * The same for a call that {@link #cancel(Ticket)} cancels; it does not begin if that was before
   * its turn.
   *
   * @param ticket of this call alone; null: there is none
   */
  <T> T call(Object owner, Ticket ticket, LongFunction<T> body) {
    refuseCallback();
    turns.lock();
    ownerInCall = owner;
    try {
      if (pointer == 0) {
        throw new IllegalStateException("this " + noun + " is closed");
      }
      serve(ticket);
      return body.apply(pointer);
    } finally {
      synchronized (pointerLock) {
        served = null;
      }
      ownerInCall = null;
      turns.unlock();
    }
  }

  /** The same for what returns nothing. */
  void run(Object owner, LongConsumer body) {
    run(owner, null, body);
  }

  /** The same for what returns nothing. */
  void run(Object owner, Ticket ticket, LongConsumer body) {
    call(
        owner,
        ticket,
        address -> {
          body.accept(address);
          return null;
        });
  }

  /** Returns whose call is in progress; null without one. */
  Object ownerInCall() {
    return ownerInCall;
  }

  /** Returns about how many calls wait for their turn. */
  int waiting() {
    return turns.getQueueLength();
  }

  private void serve(Ticket ticket) {
    synchronized (pointerLock) {
      refuseCancelled(ticket);
      served = ticket;
    }
  }

  /** Throws if the call was cancelled; long work in its turn asks again before it goes on. */
  void refuseCancelled(Ticket ticket) {
    synchronized (pointerLock) {
      if (ticket != null && ticket.isCancelled) {
        throw new TopworkException.Cancelled("the call was cancelled before it began");
      }
    }
  }

  /** Cancels the call in progress. Never waits for it. */
  void cancel() {
    synchronized (pointerLock) {
      if (pointer != 0 && cancel != null) {
        cancel.call(pointer);
      }
    }
  }

  /** Cancels the call with the ticket and no other. Never waits for it. */
  void cancel(Ticket ticket) {
    synchronized (pointerLock) {
      ticket.isCancelled = true;
      if (served == ticket) {
        cancel();
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
