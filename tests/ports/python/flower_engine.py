"""Flower's own processes on this machine, for tests: a SuperLink and SuperNodes over TLS, or a SuperLink that simulates
nodes, with certificates made by openssl."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import topwork

ROOT = pathlib.Path(__file__).resolve().parents[3]
APP = ROOT / "ports" / "python" / "recipes" / "flower_app"
MODEL = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
DATA = ROOT / "models" / "zoo" / "data" / "digits_8x8"
CLASSES = [str(digit) for digit in range(10)]


def digits(part):
    return np.load(DATA / part / "x.npy"), [str(label) for label in np.load(DATA / part / "y.npy")]


def share(index, n_parts):
    """The examples that the app gives a node: two slices of them by class."""
    slices = np.array_split(np.argsort(digits("train")[1], kind="stable"), 2 * n_parts)
    return np.concatenate([slices[index], slices[index + n_parts]])


def central(rows):
    """The model taught by these examples in one place."""
    X, y = digits("train")
    learner = topwork.Learner(MODEL, classes=CLASSES, statistics_only=True, penalty=1.0)
    learner.add(X[list(rows)], [y[i] for i in rows])
    return learner.export()


def central_steps():
    """The model taught by all examples in one place, by steps."""
    trainer = topwork.Trainer(MODEL, optimizer="adam", n_epochs=30, learning_rate=0.01, validation_fraction=0.0)
    return trainer.fit(*digits("train")).export()


def scores(model):
    session = topwork.Session(model)
    return np.stack([session.run(x[None])[0][0] for x in digits("test")[0]])


def accuracy(model):
    return np.mean([CLASSES[row.argmax()] == name for row, name in zip(scores(model), digits("test")[1])])


def same_scores(path, expected):
    np.testing.assert_allclose(scores(topwork.Model.open(path)), scores(expected), atol=1e-6)


def program(name):
    """The path of a program of the package flwr, beside the Python that runs this."""
    return str(pathlib.Path(sys.executable).parent / name)


def skip_without_flower():
    pytest.importorskip("flwr.app", reason="flwr is not installed")
    if shutil.which("openssl") is None or not pathlib.Path(program("flower-superlink")).exists():
        pytest.skip("openssl or Flower's programs are not installed", allow_module_level=True)


def make_certificates(folder):
    """ca.pem, and server.pem and server.key for 127.0.0.1."""
    def openssl(*arguments):
        subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Topwork test authority")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (folder / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    openssl("x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-out", "server.pem", "-extfile", "names")


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def text_of(values):
    """A table of settings as Flower's command line takes it."""
    def one(value):
        return f'"{value}"' if isinstance(value, (str, os.PathLike)) else str(value).lower()

    return " ".join(f"{key}={one(value)}" for key, value in values.items())


class Process:
    """A program that writes to a log; stop() ends it with all that it has started."""

    def __init__(self, folder, name, environment, command):
        self.name, self.log = name, folder / f"{name}.log"
        with open(self.log, "w", encoding="utf-8") as log:
            self._process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=subprocess.STDOUT,
                                             start_new_session=True)

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def wait_for(self, *words):
        """Until the log has all these words. An error if the program ends without."""
        for word in words:
            while word not in self.text():
                if self._process.poll() is not None and word not in self.text():
                    raise AssertionError(f"{self.name} ended without saying '{word}':\n{self.text()[-3000:]}")
                time.sleep(0.05)

    def stop(self, how=signal.SIGKILL):
        try:
            os.killpg(self._process.pid, how)
        except ProcessLookupError:
            pass
        self._process.wait()


class Engine:
    """A SuperLink and what runs the app on it; to be used by `with`. simulated: nodes within the SuperLink; else
    add_node() starts one."""

    def __init__(self, folder, simulated=False):
        self.folder, self.simulated = folder, simulated
        self.nodes = []
        self._environment = dict(os.environ, FLWR_HOME=str(folder / "home"), FLWR_TELEMETRY_ENABLED="0",
                                 FLWR_DISABLE_UPDATE_CHECK="1", RAY_USAGE_STATS_ENABLED="0", PYTHONDONTWRITEBYTECODE="1",
                                 PATH=f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}")
        port = free_port()
        self._address = f"127.0.0.1:{port}"
        make_certificates(folder)
        secure = ["--ssl-certfile", "server.pem", "--ssl-keyfile", "server.key", "--ssl-ca-certfile", "ca.pem"]
        (folder / "home").mkdir()
        (folder / "home" / "config.toml").write_text(
            f'[superlink]\ndefault = "test"\n[superlink.test]\naddress = "{self._address}"\nroot-certificates = "{folder}/ca.pem"\n')
        self.link = self._start("superlink", program("flower-superlink"), "--host", "127.0.0.1", "--port", str(port), *secure,
                                "--disable-runtime-dependency-installation", *(["--simulation"] if simulated else []))
        self.link.wait_for("Uvicorn running")

    def _start(self, name, *command):
        return Process(self.folder, name, self._environment, command)

    def add_node(self, **config):
        node = self._start(f"node{len(self.nodes)}", program("flower-supernode"), "--superlink", self._address,
                           "--root-certificates", "ca.pem", "--host", "127.0.0.1", "--port", str(free_port()),
                           "--node-config", text_of(config))
        self.nodes.append(node)
        return node

    def run(self, n_simulated=0, **config):
        """Runs the app on digits; what it logs comes back as a Process, which ends with the run."""
        config = {"model": MODEL, "data": DATA / "train", "classes": ",".join(CLASSES), **config}
        for node in self.nodes:
            node.wait_for("SuperNode ID")
        simulation = ["--federation-config", f"num-supernodes={n_simulated} client-resources-num-cpus=1"] if n_simulated else []
        return self._start("run", program("flwr"), "run", str(APP), "test", "--stream", "--run-config", text_of(config), *simulation)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in [*self.nodes, self.link]:
            process.stop(signal.SIGTERM)
            process.stop()
