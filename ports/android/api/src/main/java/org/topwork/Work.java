package org.topwork;

import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/** A call on an executor whose future cancels it. */
final class Work<T> extends CompletableFuture<T> {
  private final NativeHandle handle;
  private boolean isRunning; // guarded by this, as the state of the future while it runs

  private Work(NativeHandle handle) {
    this.handle = handle;
  }

  /**
   * Calls {@code body} on the executor; cancelling the future meanwhile cancels the handle's call.
   */
  static <T> CompletableFuture<T> start(Executor executor, Callable<T> body, NativeHandle handle) {
    Work<T> work = new Work<>(handle);
    executor.execute(() -> work.run(body));
    return work;
  }

  @Override
  public boolean cancel(boolean mayInterruptIfRunning) {
    boolean isCancelled = super.cancel(mayInterruptIfRunning);
    synchronized (this) {
      if (isCancelled && isRunning) {
        handle.cancel();
      }
    }
    return isCancelled;
  }

  private void run(Callable<T> body) {
    synchronized (this) {
      if (isDone()) {
        return;
      }
      isRunning = true;
    }
    T result = null;
    Throwable failure = null;
    try {
      result = body.call();
    } catch (Throwable e) { // an Error of a callback reaches the future, too
      failure = e;
    }
    synchronized (this) {
      isRunning = false;
      if (isCancelled() && !(failure instanceof TopworkException.Cancelled)) {
        handle.cancelIsStale();
      }
    }
    if (failure == null) {
      complete(result);
    } else {
      completeExceptionally(failure);
    }
  }
}
