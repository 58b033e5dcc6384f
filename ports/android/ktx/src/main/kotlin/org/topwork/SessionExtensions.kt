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
): Unit = withContext(dispatcher) { cancellable(handle) { run(it) } }

/**
 * Calls [body] with a ticket for one call of the handle, and cancels that call as soon as the
 * coroutine is cancelled, also while it waits for its turn. The library's exception of a cancelled
 * call becomes the coroutine's.
 */
@OptIn(InternalCoroutinesApi::class)
internal suspend fun <T> cancellable(handle: NativeHandle, body: (NativeHandle.Ticket) -> T): T {
  val job = kotlin.coroutines.coroutineContext.job
  val ticket = NativeHandle.Ticket()
  val watch = job.invokeOnCompletion(onCancelling = true) { if (it != null) handle.cancel(ticket) }
  try {
    return body(ticket)
  } catch (e: TopworkException.Cancelled) {
    if (job.isCancelled) throw job.getCancellationException()
    throw e
  } finally {
    watch.dispose()
  }
}
