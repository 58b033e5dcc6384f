package org.topwork

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.InternalCoroutinesApi
import kotlinx.coroutines.job
import kotlinx.coroutines.withContext

/**
 * Computes the outputs from the inputs on [dispatcher]. Cancelling the coroutine cancels the run at
 * its next operator, and waits for that: the buffers are free when this returns or throws.
 *
 * @throws TopworkException as [Session.run]
 */
public suspend fun Session.runSuspending(
    dispatcher: CoroutineDispatcher = Dispatchers.Default
): Unit = withContext(dispatcher) { cancelling(handle) { run() } }

/**
 * Calls [body], and cancels it as soon as the coroutine is cancelled. The library's exception of a
 * cancelled call becomes the coroutine's.
 */
@OptIn(InternalCoroutinesApi::class)
internal suspend fun <T> cancelling(handle: NativeHandle, body: () -> T): T {
  val job = kotlin.coroutines.coroutineContext.job
  val lock = Any()
  var isRunning = true
  val watch =
      job.invokeOnCompletion(onCancelling = true) {
        synchronized(lock) {
          if (it != null && isRunning) handle.cancel()
        }
      }
  try {
    return body()
  } catch (e: TopworkException.Cancelled) {
    if (job.isCancelled) throw job.getCancellationException()
    throw e
  } finally {
    synchronized(lock) { isRunning = false }
    watch.dispose()
  }
}
