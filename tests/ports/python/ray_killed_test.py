"""Files of topwork.ray have each row exactly once, though actors or the whole program are killed meanwhile."""
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("ray", reason="ray is not installed (toolchains/install-deps.sh ray)")
from ray_driver import whole  # noqa: E402

DRIVER = pathlib.Path(__file__).with_name("ray_driver.py")


class Driver:
    """The program, which writes into a file."""

    def __init__(self, path, n_actors=2):
        self.parts = path.with_name(path.name + ".parts")
        self.process = subprocess.Popen([sys.executable, "-B", str(DRIVER), str(path), str(n_actors)], start_new_session=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def wait_for_parts(self, n):
        while len(list(self.parts.glob("*.parquet"))) < n:
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.02)

    def actors(self):
        """The processes of Ray's actors whose ancestor it is."""
        parents, names = {}, {}
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                names[int(folder.name)] = (folder / "cmdline").read_bytes()
            except OSError:
                continue

        def is_ours(pid):
            while pid > 1:
                pid = parents.get(pid, 0)
                if pid == self.process.pid:
                    return True
            return False

        return [pid for pid, name in names.items() if name.startswith(b"ray::") and b"MapWorker" in name and is_ours(pid)]

    def ends_well(self):
        text, _ = self.process.communicate()
        assert self.process.returncode == 0 and "600 rows are written" in text, text


def test_a_killed_actor_loses_and_doubles_nothing(tmp_path):
    driver = Driver(tmp_path / "f.parquet")
    killed = 0
    for n in (3, 12, 25):
        driver.wait_for_parts(n)
        actors = driver.actors()
        if actors:
            os.kill(actors[0], signal.SIGKILL)
            killed += 1
    driver.ends_well()
    assert killed >= 2
    whole(tmp_path / "f.parquet")


def test_a_killed_driver_goes_on_when_started_again(tmp_path):
    path = tmp_path / "f.parquet"
    for n in (5, 20):
        driver = Driver(path)
        driver.wait_for_parts(n)
        driver.process.kill()
        driver.process.wait()
        assert not path.exists()
    Driver(path, 1).ends_well()
    whole(path)
