"""A browser without a window, asked over a pipe (Chromium's DevTools protocol)."""

import json
import os
import select
import shutil
import subprocess
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_LONGEST = 120


class Browser:
    """A page in Chromium.

    Parameters
    ----------
    folder : Path
        For its profile.
    """

    def __init__(self, folder):
        to_read, self._send = os.pipe()
        self._receive, to_write = os.pipe()

        def pipes():
            # The protocol's pipes are descriptors 3 and 4.
            a, b = os.dup(to_read), os.dup(to_write)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self._program = subprocess.Popen(
            [PROGRAM, "--headless=new", "--no-sandbox", "--remote-debugging-pipe", "--use-angle=swiftshader",
             "--enable-unsafe-swiftshader", "--window-size=1000,700", f"--user-data-dir={folder}",
             "--disable-dev-shm-usage"],
            close_fds=False, preexec_fn=pipes, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(to_write)
        self._rest, self._number, self._session = b"", 0, None
        self.said = []
        made = self.ask("Target.createTarget", url="about:blank")
        attached = self.ask("Target.attachToTarget", targetId=made["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self.ask("Runtime.enable")
        self.ask("Log.enable")

    def ask(self, method, **words):
        self._number += 1
        message = {"id": self._number, "method": method, "params": words}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + _LONGEST
        while time.monotonic() < until:
            answer = self._next(until)
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.said.append(json.dumps(answer["params"]))
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                return answer["result"]
        raise TimeoutError(method)

    def _next(self, until):
        while b"\0" not in self._rest:
            if not select.select([self._receive], [], [], max(until - time.monotonic(), 0))[0]:
                raise TimeoutError("the browser does not answer")
            self._rest += os.read(self._receive, 1 << 20)
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def value(self, expression):
        """Return what JavaScript says, awaited."""
        found = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def open(self, path):
        """Open a file, and wait until it says that it is ready or has failed."""
        self.ask("Page.navigate", url=path.resolve().as_uri())
        return self.wait_for("document.documentElement?.dataset.state")

    def wait_for(self, expression):
        """Return what JavaScript says as soon as it is true; a page on its way says nothing."""
        until = time.monotonic() + _LONGEST
        while time.monotonic() < until:
            try:
                if found := self.value(expression):
                    return found
            except AssertionError:
                pass  # the page before went while it was asked
            time.sleep(0.05)
        raise TimeoutError(f"{expression}; the page said {self.said}")

    def move(self, x, y):
        self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def close(self):
        self._program.kill()
        self._program.wait()
        os.close(self._send)
        os.close(self._receive)
