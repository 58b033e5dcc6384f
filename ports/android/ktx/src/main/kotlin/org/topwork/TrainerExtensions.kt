package org.topwork

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
): Unit = withContext(dispatcher) { cancelling(handle) { add(examples) } }

/**
 * Trains while it is collected, on [dispatcher], and emits every epoch. The flow ends when nothing
 * is left to do or a limit of [options] is reached; a collector that stops cancels the training,
 * which goes on from there when it is collected again.
 *
 * @param options its progress listener is not called
 * @throws TopworkException as [Trainer.fit], to the collector
 */
public fun Trainer.fitFlow(
    options: FitOptions = FitOptions(),
    dispatcher: CoroutineDispatcher = Dispatchers.Default
): Flow<TrainerProgress> =
    channelFlow {
          cancelling(handle) { fit(options.onEpoch { trySendBlocking(it).isSuccess }) }
        }
        .flowOn(dispatcher)

/**
 * Makes a model with the new head on [dispatcher]. The caller closes it.
 *
 * @throws TopworkException as [Trainer.export]
 */
public suspend fun Trainer.exportSuspending(
    dispatcher: CoroutineDispatcher = Dispatchers.Default
): Model = withContext(dispatcher) { export() }
