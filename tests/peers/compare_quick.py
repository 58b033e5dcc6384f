"""Two threads beat one: the quick form of compare.py, which runs as a test.

A ratio of minima, tried again and again, with no limit on any time. It fails only where two processes
of one thread each ran side by side at the speed of one alone, so that there were two free processors,
and two threads of one process still were no faster than one.
"""
import os
import pathlib
import statistics
import threading
import time

import compare_sides
import peers

WANTED = 0.85   # Two threads take at most so much of the time of one.
FREE = 1.25     # Two processors are free if two processes at once are slowed down by no more.
TRIES, TURN_MS, LONGEST_PAUSE_S = 12, 400, 5
MODEL = peers.ZOO / "efficientnet_lite0_fp16.tflite"


def processors():
    """How many processors this process may use: by its affinity and its group's quota."""
    n = float(len(os.sched_getaffinity(0)))
    for path, form in (("/sys/fs/cgroup/cpu.max", "v2"), ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "v1")):
        try:
            words = pathlib.Path(path).read_text(encoding="ascii").split()
            period = words[1] if form == "v2" else pathlib.Path(
                "/sys/fs/cgroup/cpu/cpu.cfs_period_us").read_text(encoding="ascii")
            if words[0] not in ("max", "-1"):
                n = min(n, float(words[0]) / float(period))
        except (OSError, IndexError, ValueError):
            pass
    return n


def at_once(sides, ms):
    """The turns of all sides at the same time; the median of each."""
    results = [None] * len(sides)

    def turn(i):
        results[i] = statistics.median(sides[i].turn(ms))

    threads = [threading.Thread(target=turn, args=(i,)) for i in range(len(sides))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def check(library, python):
    """Exit code: 0, 1, or 77 where nothing can be said."""
    if processors() < 2:
        print(f"SKIP: this process may use {processors():.1f} processors")
        return peers.SKIP
    with compare_sides.Side("topwork", python, library) as one, \
            compare_sides.Side("topwork", python, library) as other, \
            compare_sides.Side("topwork", python, library) as two:
        for side, threads in ((one, 1), (other, 1), (two, 2)):
            side.wait()
            side.ask("open", model=str(MODEL), threads=threads, batch=1)
            side.stop()
        best, together = [float("inf"), float("inf")], []
        for number in range(TRIES):
            best = [min(best[0], *one.turn(TURN_MS)), min(best[1], *two.turn(TURN_MS))]
            together.append(max(at_once([one, other], TURN_MS)))
            slowed, ratio = together[-1] / best[0], best[1] / best[0]
            print(f"try {number + 1}: one thread {best[0]:.2f} ms, two {best[1]:.2f} ms, ratio {ratio:.2f}; "
                  f"two processes at once take {slowed:.2f} times as long", flush=True)
            if ratio <= WANTED:
                return 0
            if slowed > FREE:
                time.sleep(min(number + 1, LONGEST_PAUSE_S))  # until what else runs has ended, perhaps
    if min(together) > FREE * best[0]:
        print("SKIP: two processors were never free at the same time")
        return peers.SKIP
    print(f"FAIL: two threads take {ratio:.2f} of the time of one; {WANTED} was wanted at most")
    return 1
