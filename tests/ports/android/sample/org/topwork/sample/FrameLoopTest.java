package org.topwork.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.Test;

/** The loop of frames, whose main thread is this one. */
public class FrameLoopTest {
  private final Queue<Runnable> posted = new ArrayDeque<>();
  private int looks;
  private final FrameLoop loop = new FrameLoop(posted::add, () -> looks++);

  private void runPosted() {
    for (int n = posted.size(); n > 0; n--) {
      posted.remove().run();
    }
  }

  @Test
  public void looksAtOneFrameAfterTheOther() {
    runPosted();
    assertEquals(0, looks);
    loop.resume();
    for (int i = 1; i <= 3; i++) {
      runPosted();
      runPosted();
      assertEquals(i, looks);
      loop.looked();
    }
  }

  @Test
  public void aLookThatEndsAfterThePauseBeginsNoOther() {
    loop.resume();
    runPosted();
    loop.pause();
    loop.looked();
    assertTrue(posted.isEmpty());
    runPosted();
    assertEquals(1, looks);
  }

  @Test
  public void aFrameThatWasPlannedBeforeThePauseIsNotLookedAt() {
    loop.resume();
    loop.pause();
    runPosted();
    assertEquals(0, looks);
  }

  @Test
  public void aShortPauseMakesNoSecondLoop() {
    loop.resume();
    loop.pause();
    loop.resume();
    assertEquals(1, posted.size());
    runPosted();
    loop.pause();
    loop.resume();
    assertTrue("a look is in progress", posted.isEmpty());
    loop.looked();
    runPosted();
    assertEquals(2, looks);
  }
}
