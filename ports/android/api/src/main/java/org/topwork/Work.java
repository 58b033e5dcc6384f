package org.topwork;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A call on an executor whose future cancels it. */
final class Work<T> extends CompletableFuture<T> {
  /** A call of a handle. */
  interface Body<T> {
    /** Calls with the ticket; the future tells whether it was cancelled. */
    T call(CompletableFuture<T> future, NativeHandle.Ticket ticket);
  }

  private final NativeHandle handle;
  private final NativeHandle.Ticket ticket = new NativeHandle.Ticket();

  private Work(NativeHandle handle) {
    this.handle = handle;
  }

  /**
   * Calls {@code body} on the executor; cancelling the future cancels that call of the handle, also
   * while it waits for its turn.
   */
  static <T> CompletableFuture<T> start(Executor executor, Body<T> body, NativeHandle handle) {
    Work<T> work = new Work<>(handle);
    executor.execute(() -> work.run(body));
    return work;
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean isCancelled = super.cancel(mayInterruptIfRunning);
    if (isCancelled) {
      handle.cancel(ticket);
    }
    return isCancelled;
  }

  private void run(Body<T> body) {
    if (isDone()) {
      return;
    }
    try {
      complete(body.call(this, ticket));
    } catch (Throwable e) { // an Error of a callback reaches the future, too
      completeExceptionally(e);
    }
  }
}
