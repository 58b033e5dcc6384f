package org.topwork;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.After;
import org.junit.Test;

/** Turns, tickets and owners, without a native object. */
public class NativeHandleTest {
  private final Object owner = new Object();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final NativeHandle handle =
      new NativeHandle(owner, "Thing", 1, address -> {}, address -> cancelled.incrementAndGet());
  private final CountDownLatch end = new CountDownLatch(1);
  private final ExecutorService first = Executors.newSingleThreadExecutor();
  private final ExecutorService second = Executors.newSingleThreadExecutor();

  @After
  public void close() {
    end.countDown();
    first.shutdown();
    second.shutdown();
    handle.close();
  }

  /** Takes the turn until {@code end}, and returns when it has it. */
  private CompletableFuture<String> takeTurn() throws Exception {
    CountDownLatch hasBegun = new CountDownLatch(1);
    CompletableFuture<String> call =
        Work.start(
            first,
            (future, ticket) ->
                handle.call(
                    owner,
                    ticket,
                    address -> {
                      hasBegun.countDown();
                      Waiting.until(end);
                      return "done";
                    }),
            handle);
    hasBegun.await();
    return call;
  }

  @Test
  public void aCallKeepsItsOwner() {
    assertNull(handle.ownerInCall());
    handle.run(owner, address -> assertSame(owner, handle.ownerInCall()));
    assertNull(handle.ownerInCall());
    assertThrows(
        UnsupportedOperationException.class,
        () ->
            handle.run(
                owner,
                address -> {
                  throw new UnsupportedOperationException();
                }));
    assertNull(handle.ownerInCall());
  }

  @Test
  public void aWaitingCallThatIsCancelledNeverBegins() throws Exception {
    CompletableFuture<String> running = takeTurn();
    NativeHandle.Ticket ticket = new NativeHandle.Ticket();
    CompletableFuture<Void> waiting =
        CompletableFuture.runAsync(
            () -> handle.run(owner, ticket, address -> cancelled.set(100)), second);
    Waiting.untilWaiting(handle, 1);
    handle.cancel(ticket);
    assertEquals(0, cancelled.get());
    end.countDown();
    assertEquals("done", running.get());
    ExecutionException failure = assertThrows(ExecutionException.class, waiting::get);
    assertSame(TopworkException.Cancelled.class, failure.getCause().getClass());
    handle.cancel(ticket);
    assertEquals("neither it nor another is cancelled", 0, cancelled.get());
  }

  @Test
  public void aFutureThatWaitsLeavesTheRunningCallAlone() throws Exception {
    CompletableFuture<String> running = takeTurn();
    AtomicInteger begun = new AtomicInteger();
    CompletableFuture<Void> waiting =
        Work.start(
            second,
            (future, ticket) ->
                handle.call(
                    owner,
                    ticket,
                    address -> {
                      begun.incrementAndGet();
                      return null;
                    }),
            handle);
    Waiting.untilWaiting(handle, 1);
    assertTrue(waiting.cancel(true));
    assertEquals(0, cancelled.get());
    end.countDown();
    assertEquals("done", running.get());
    second.submit(() -> assertEquals(0, begun.get())).get();
  }

  @Test
  public void aFutureCancelsItsCallInItsTurnOnly() throws Exception {
    CompletableFuture<String> running = takeTurn();
    assertTrue(running.cancel(true));
    assertEquals(1, cancelled.get());
    end.countDown();
    first.submit(() -> {}).get();
    CompletableFuture<String> next = takeTurn();
    assertEquals("done", next.get());
    running.cancel(true);
    assertFalse(next.cancel(true));
    assertEquals(1, cancelled.get());
  }
}
