"""A headless Chromium, driven over its debugging pipe (Chrome DevTools Protocol) by the standard
library alone."""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

# Nothing of its own may reach for a network.
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
         "--disable-background-networking", "--disable-component-update", "--disable-sync",
         "--disable-default-apps", "--disable-extensions", "--mute-audio", "--hide-scrollbars",
         "--remote-debugging-pipe", "--disable-dev-shm-usage"]


def find():
    """Path of Chromium, or None."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    return None


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="topwork_browser_")
        read_end, self._out = os.pipe()
        self._in, write_end = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
        command = 'exec "$@" 3<&%d 4>&%d' % (read_end, write_end)
        self._log = open(pathlib.Path(self.folder) / "log.txt", "wb")
        self._process = subprocess.Popen(
            ["sh", "-c", command, "sh", program, *FLAGS, "--user-data-dir=" + self.folder,
             "about:blank"], pass_fds=(read_end, write_end), stdout=self._log, stderr=self._log,
            env=dict(os.environ, HOME=self.folder))
        os.close(read_end)
        os.close(write_end)
        self._buffer = b""
        self._id = 0
        self.events = []

    def _receive(self, deadline):
        while b"\0" not in self._buffer:
            if time.monotonic() > deadline:
                raise TimeoutError("Chromium does not answer")
            piece = os.read(self._in, 1 << 20)
            if not piece:
                raise RuntimeError("Chromium ended; its output: " + pathlib.Path(
                    self._log.name).read_text(errors="replace")[-2000:])
            self._buffer += piece
        message, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        """The result of a command; events that arrive meanwhile are kept."""
        self._id += 1
        message = {"id": self._id, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while True:
            answer = self._receive(deadline)
            if answer.get("id") == self._id:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def page(self, width, height, dark=False):
        return Page(self, width, height, dark)

    def close(self):
        try:
            self.call("Browser.close")
            self._process.wait(timeout=20)
        except (OSError, RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._log.close()
        os.close(self._out)
        os.close(self._in)
        shutil.rmtree(self.folder, ignore_errors=True)


class Page:
    """One tab of a given size."""

    def __init__(self, browser, width, height, dark):
        self.browser = browser
        target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=width < 600)

    def open(self, path):
        self.browser.events.clear()
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        deadline = time.monotonic() + 60
        while not (self.evaluate("document.readyState") == "complete" and
                   self.evaluate("location.protocol") == "file:"):
            if time.monotonic() > deadline:
                raise TimeoutError("the page does not finish loading")
            time.sleep(0.02)
        self.settle()

    def settle(self):
        """Waits until layout and drawing are done."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame("
                      "() => setTimeout(done, 50))))")

    def evaluate(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("%s: %s" % (expression, answer["exceptionDetails"]))
        return answer["result"].get("value")

    def problems(self):
        """Errors and warnings of the page, and everything it asked of a network, as texts."""
        found = []
        for event in self.browser.events:
            if event.get("sessionId") != self.session:
                continue
            method, p = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                found.append("exception: %s" % p["exceptionDetails"])
            if method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning"):
                found.append("console: %s" % p["args"])
            if method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append("log: %s" % p["entry"]["text"])
            if method == "Network.requestWillBeSent" and not p["request"]["url"].startswith(
                    ("file:", "data:", "about:")):
                found.append("request: %s" % p["request"]["url"])
        return found

    def screenshot(self, path):
        height = self.evaluate("document.documentElement.scrollHeight")
        width = self.evaluate("document.documentElement.clientWidth")
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={
            "x": 0, "y": 0, "width": width, "height": height, "scale": 1})
        pathlib.Path(path).write_bytes(base64.b64decode(shot["data"]))
