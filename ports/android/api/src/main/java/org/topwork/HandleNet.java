package org.topwork;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.logging.Logger;

/**
 * Frees native objects whose owners were forgotten instead of closed. {@code java.lang.ref.Cleaner}
 * would do it, but Android has it from API 33 on only; this works from API 24 on.
 */
final class HandleNet {
  private static final ReferenceQueue<Object> FORGOTTEN = new ReferenceQueue<>();
  private static final Map<NativeHandle, Watch> WATCHES = new ConcurrentHashMap<>();

  static {
    Thread thread = new Thread(HandleNet::freeForgotten, "topwork-handles");
    thread.setDaemon(true);
    thread.start();
  }

  private HandleNet() {}

  /** Frees the handle some time after the garbage collector finds that nobody refers to owner. */
  static void watch(Object owner, NativeHandle handle) {
    WATCHES.put(handle, new Watch(owner, handle));
  }

  /** The handle was freed. */
  static void forget(NativeHandle handle) {
    Watch watch = WATCHES.remove(handle);
    if (watch != null) {
      watch.clear();
    }
  }

  /** Returns how many objects live. */
  static int size() {
    return WATCHES.size();
  }

  private static void freeForgotten() {
    while (true) {
      try {
        NativeHandle handle = ((Watch) FORGOTTEN.remove()).handle;
        Logger.getLogger("org.topwork")
            .warning("A " + handle.noun() + " was forgotten and is freed now: call its close().");
        handle.close();
      } catch (InterruptedException e) {
        // Nobody ends this thread but the process.
      }
    }
  }

  private static final class Watch extends PhantomReference<Object> {
    final NativeHandle handle;

    Watch(Object owner, NativeHandle handle) {
      super(owner, FORGOTTEN);
      this.handle = handle;
    }
  }
}
