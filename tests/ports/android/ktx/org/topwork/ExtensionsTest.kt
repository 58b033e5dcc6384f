package org.topwork

import java.util.concurrent.CountDownLatch
import java.util.concurrent.ExecutorService
import java.util.concurrent.Executors
import kotlin.coroutines.CoroutineContext
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.flow.collect
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.joinAll
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import org.junit.Assert.assertEquals
import org.junit.Assert.assertFalse
import org.junit.Assert.assertNull
import org.junit.Assert.assertThrows
import org.junit.Assert.assertTrue
import org.junit.Test

/** Suspending calls and flows. */
class ExtensionsTest {
  private fun trainer(epochs: Int): Trainer =
      Model.open(TestFiles.digits()).use {
        Trainer(it, TrainerOptions().classCount(4).device("cpu").epochs(epochs))
      }

  private fun digits(part: String) = TestFiles.Digits.read(part, 4).examples()

  @Test
  fun runsSuspending() = runBlocking {
    Model.open(TestFiles.digits()).use { model ->
      Session(model).use { session ->
        for (i in 0 until 64) session.input(0).putFloat(4 * i, i / 64f)
        session.runSuspending()
        val sum = (0 until 10).sumOf { session.output(0).getFloat(4 * it).toDouble() }
        assertEquals(1.0, sum, 1e-5)
      }
    }
  }

  @Test
  fun emitsEveryEpoch() = runBlocking {
    trainer(5).use { trainer ->
      trainer.addSuspending(digits("train"))
      val epochs = trainer.fitFlow().toList()
      assertEquals(listOf(1L, 2L, 3L, 4L, 5L), epochs.map { it.epoch() })
      assertTrue(epochs.last().trainLoss() < epochs.first().trainLoss())
      assertTrue(trainer.info().isFinished)
      trainer.exportSuspending().use { assertEquals(4, it.outputInfo(0).elements()) }
    }
  }

  @Test
  fun aCollectorThatStopsStopsTheTraining() = runBlocking {
    trainer(1000000).use { trainer ->
      trainer.addSuspending(digits("train"))
      assertEquals(2, trainer.fitFlow().take(2).toList().size)
      assertFalse(trainer.info().isFinished)
      val done = trainer.info().epochsDone()
      assertEquals(done + 1, trainer.fitFlow().first().epoch())
    }
  }

  @Test
  fun cancelledCoroutineCancelsTheCall() = runBlocking {
    trainer(3).use { trainer ->
      val hasBegun = CountDownLatch(1)
      val all = TestFiles.Digits.read("train", 4)
      val slow =
          Examples.read(1000000) { index, inputs ->
            hasBegun.countDown()
            inputs[0].putFloat(0, index.toFloat())
            all.labels[0]
          }
      var thrown: Throwable? = null
      val job =
          launch(Dispatchers.Default) {
            try {
              trainer.addSuspending(slow)
            } catch (e: Throwable) {
              thrown = e
              throw e
            }
          }
      withContext(Dispatchers.IO) { hasBegun.await() }
      job.cancelAndJoin()
      assertTrue("$thrown", thrown is CancellationException)
      assertEquals(0, trainer.info().exampleCount())
      trainer.addSuspending(digits("train"))
      assertEquals(3, trainer.fitFlow().toList().size)
    }
  }

  @Test
  fun aWaitingCallThatIsCancelledLeavesTheRunningOneAlone() = runBlocking {
    trainer(3).use { trainer ->
      val digits = TestFiles.Digits.read("train", 4)
      val hasBegun = CountDownLatch(1)
      val end = CountDownLatch(1)
      val examples =
          digits.examples().onProgress { _, _ ->
            hasBegun.countDown()
            end.await()
            true
          }
      val running = launch(Dispatchers.IO) { trainer.addSuspending(examples, Dispatchers.IO) }
      withContext(Dispatchers.IO) { hasBegun.await() }
      val waiting =
          listOf(
              launch(Dispatchers.IO) { trainer.addSuspending(digits("test"), Dispatchers.IO) },
              launch(Dispatchers.IO) { trainer.fitFlow(dispatcher = Dispatchers.IO).collect() },
              launch(Dispatchers.IO) { trainer.exportSuspending(Dispatchers.IO).close() })
      withContext(Dispatchers.IO) { Waiting.untilWaiting(trainer.handle, 3) }
      waiting.forEach { it.cancel() }
      end.countDown()
      waiting.joinAll()
      running.join()
      assertFalse(running.isCancelled)
      assertEquals(digits.labels.size.toLong(), trainer.info().exampleCount())
      assertEquals(0, trainer.info().epochsDone())
    }
  }

  @Test
  fun aFlowLeavesItsOptionsAsTheyAre() = runBlocking {
    trainer(5).use { trainer ->
      trainer.addSuspending(digits("train"))
      val seen = mutableListOf<Long>()
      val options = FitOptions().maxEpochs(2).onEpoch { seen.add(it.epoch()) }
      assertEquals(listOf(1L, 2L), trainer.fitFlow(options).toList().map { it.epoch() })
      assertFalse(trainer.fit(options))
      assertEquals(listOf(3L, 4L), seen)
    }
  }

  /** Runs on its own thread, and calls [before] ahead of everything that it runs. */
  private class Observed(val before: (Int) -> Unit) : CoroutineDispatcher() {
    private var dispatched = 0
    val executor: ExecutorService = Executors.newSingleThreadExecutor()

    override fun dispatch(context: CoroutineContext, block: Runnable) {
      executor.execute {
        before(++dispatched)
        block.run()
      }
    }
  }

  @Test
  fun aModelThatComesTooLateIsClosed() = runBlocking {
    trainer(3).use { trainer ->
      trainer.addSuspending(digits("train"))
      trainer.fitFlow().toList()
      val objects = HandleNet.size()
      var job: Job? = null
      val hasJob = CountDownLatch(1)
      val observed =
          Observed { nth ->
            hasJob.await()
            if (nth == 2) { // the coroutine goes on with its model
              assertEquals(objects + 1, HandleNet.size())
              job!!.cancel()
            }
          }
      // The model is made once the coroutine is suspended, else it would not be dispatched again.
      val exporting = Observed { observed.executor.submit {}.get() }
      var made: Model? = null
      job = launch(observed) { made = trainer.exportSuspending(exporting) }
      hasJob.countDown()
      job.join()
      observed.executor.shutdown()
      exporting.executor.shutdown()
      assertNull(made)
      assertEquals(objects, HandleNet.size())
    }
  }

  @Test
  fun failuresReachTheCollector() {
    trainer(3).use { trainer ->
      assertThrows(TopworkException.FailedPrecondition::class.java) {
        runBlocking { trainer.fitFlow().toList() }
      }
    }
  }
}
