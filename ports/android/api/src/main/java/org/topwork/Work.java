package org.topwork;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Function;

/** A call on an executor whose future cancels it. */
final class Work<T> extends CompletableFuture<T> {
  private final NativeHandle handle;
  private boolean isRunning; // guarded by this, as the state of the future while it runs

  private Work(NativeHandle handle) {
    this.handle = handle;
  }

  /**
   * Calls {@code body} with the future on the executor; cancelling it meanwhile cancels the
   * handle's call.
   */
  static <T> CompletableFuture<T> start(
      Executor executor, Function<Future<T>, T> body, NativeHandle handle) {
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

  private void run(Function<Future<T>, T> body) {
    synchronized (this) {
      if (isDone()) {
        return;
      }
      isRunning = true;
    }
    T result = null;
    Throwable failure = null;
    try {
      result = body.apply(this);
    } catch (Throwable e) { // an Error of a callback reaches the future, too
      failure = e;
    }
    synchronized (this) {
      isRunning = false;
    }
    if (failure == null) {
      complete(result);
    } else {
      completeExceptionally(failure);
    }
  }
}
