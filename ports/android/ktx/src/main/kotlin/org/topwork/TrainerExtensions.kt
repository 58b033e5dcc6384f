package org.topwork

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.channels.trySendBlocking
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.flow.flowOn
import kotlinx.coroutines.withContext

/**
 * Computes the features of examples on [dispatcher] and keeps them. Cancelling the coroutine
 * cancels it, and none of them is kept.
 *
 * @throws TopworkException as [Trainer.add]
 */
public suspend fun Trainer.addSuspending(
    examples: Examples,
    dispatcher: CoroutineDispatcher = Dispatchers.Default
): Unit = withContext(dispatcher) { cancellable(handle) { add(examples, it) } }

/**
 * Trains while it is collected, on [dispatcher], and emits every epoch. The flow ends when nothing
 * is left to do or a limit of [options] is reached; a collector that stops cancels the training,
 * which goes on from there when it is collected again.
 *
 * @param options its progress listener is not called, and it stays as it is
 * @throws TopworkException as [Trainer.fit], to the collector
 */
public fun Trainer.fitFlow(
    options: FitOptions = FitOptions(),
    dispatcher: CoroutineDispatcher = Dispatchers.Default
): Flow<TrainerProgress> =
    channelFlow {
          val emitting = options.withListener { trySendBlocking(it).isSuccess }
          cancellable(handle) { fit(emitting, it) }
        }
        .flowOn(dispatcher)

/**
 * Makes a model with the new head on [dispatcher]. The caller closes it. A coroutine that is
 * cancelled meanwhile gets none.
 *
 * @throws TopworkException as [Trainer.export]
 */
public suspend fun Trainer.exportSuspending(
    dispatcher: CoroutineDispatcher = Dispatchers.Default
): Model {
  var model: Model? = null
  try {
    return withContext(dispatcher) { cancellable(handle) { export(it) }.also { model = it } }
  } catch (e: CancellationException) {
    model?.close() // it was made, and then the coroutine was cancelled
    throw e
  }
}
