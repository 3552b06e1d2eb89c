"""Chromium without a window, driven over its DevTools protocol.

    browser = Chromium()
    page = browser.context().page()

The protocol goes through two pipes, as JSON that ends with a zero byte: no port is open to others, and
no library is needed. A thread of a Chromium reads what comes; all calls are made by the test's thread.
"""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading

from browser_page import Page, ProtocolError
from harness import PATIENCE, environment

CHROMIUM = "/usr/bin/chromium"
# As root there is no sandbox; a test trusts its pages. The rest keeps the browser from the network and
# from what a page in front of a person would not do either, such as sleeping in the background.
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-default-apps", "--disable-extensions", "--disable-breakpad",
    "--disable-dev-shm-usage", "--disable-features=Translate,MediaRouter,OptimizationHints",
    "--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding", "--metrics-recording-only", "--mute-audio",
    "--password-store=basic", "--use-mock-keychain", "--force-color-profile=srgb",
    "--enable-precise-memory-info", "--no-proxy-server", "--remote-debugging-pipe",
    # Names of other web sites that lead to this machine.
    "--host-resolver-rules=MAP *.test 127.0.0.1",
)


class Chromium:
    """A browser with a profile of its own. stop() ends it."""

    def __init__(self, *flags):
        self.profile = tempfile.mkdtemp(prefix="berth-chromium-")
        self.lock = threading.Condition()
        self.answers = {}
        self.listeners = {}  # session: called with (method, params) by the reader
        self.last_id = 0
        self.ended = False
        read_here, write_there = os.pipe()
        read_there, write_here = os.pipe()
        # The shell gives them the numbers that Chromium uses, 3 and 4.
        theirs = [fcntl.fcntl(each, fcntl.F_DUPFD, 10) for each in (read_there, write_there)]
        self.log = open(os.path.join(self.profile, "log"), "wb")
        self.process = subprocess.Popen(
            ["/bin/bash", "-c", f'exec "$0" "$@" 3<&{theirs[0]} 4>&{theirs[1]}', CHROMIUM, *FLAGS,
             *flags, f"--user-data-dir={self.profile}", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, pass_fds=theirs,
            start_new_session=True, env=environment(HOME=self.profile))
        for each in (*theirs, read_there, write_there):
            os.close(each)
        self.out = write_here
        self.reader = threading.Thread(target=self.read, args=(read_here,), daemon=True)
        self.reader.start()
        try:
            self.version = self.call("Browser.getVersion")["product"]
        except BaseException:
            self.stop()
            raise

    def read(self, pipe):
        with os.fdopen(pipe, "rb", buffering=0) as file:
            rest = b""
            while True:
                chunk = file.read(1 << 20)
                if not chunk:
                    break
                *messages, rest = (rest + chunk).split(b"\0")
                for each in messages:
                    self.receive(json.loads(each))
        with self.lock:
            self.ended = True
            self.lock.notify_all()

    def receive(self, message):
        if "id" in message:
            with self.lock:
                self.answers[message["id"]] = message
                self.lock.notify_all()
            return
        listener = self.listeners.get(message.get("sessionId"))
        if listener:
            listener(message["method"], message["params"])

    def call(self, method, params=None, session=None, limit=PATIENCE):
        """Calls the browser and returns its result."""
        with self.lock:
            self.last_id += 1
            number = self.last_id
        message = {"id": number, "method": method, "params": params or {}}
        if session:
            message["sessionId"] = session
        self.write(json.dumps(message).encode() + b"\0")
        with self.lock:
            if not self.lock.wait_for(lambda: number in self.answers or self.ended, limit):
                raise AssertionError(f"{method} got no answer")
            if number not in self.answers:
                raise AssertionError(f"Chromium has ended: {self.output()[-2000:]}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise ProtocolError(f"{method}: {answer['error'].get('message')}")
        return answer["result"]

    def write(self, text):
        while text:
            text = text[os.write(self.out, text):]

    def output(self):
        with open(self.log.name, encoding="utf-8", errors="replace") as log:
            return log.read()

    def context(self):
        """Returns a new context, which shares no cookies and no storage with others."""
        return Context(self)

    def stop(self):
        try:
            if not self.ended:
                self.call("Browser.close", limit=5)
            self.process.wait(5)
        except (AssertionError, OSError, ProtocolError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # Its own group, which holds only Chromium.
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.out)
        self.log.close()
        self.reader.join(PATIENCE)
        shutil.rmtree(self.profile, ignore_errors=True)


class Context:
    """What one person's browser has: cookies, storage, tabs."""

    def __init__(self, browser):
        self.browser = browser
        self.id = browser.call("Target.createBrowserContext", {"disposeOnDetach": True})[
            "browserContextId"]
        self.pages = []

    def page(self, width=1280, height=800):
        """Returns a new, empty tab."""
        target = self.browser.call("Target.createTarget", {
            "url": "about:blank", "browserContextId": self.id})
        session = self.browser.call("Target.attachToTarget", {
            "targetId": target["targetId"], "flatten": True})["sessionId"]
        page = Page(self, target["targetId"], session, width, height)
        self.pages.append(page)
        return page

    def allow_clipboard(self, origin):
        self.browser.call("Browser.grantPermissions", {
            "browserContextId": self.id, "origin": origin,
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]})

    def cookies(self):
        return self.browser.call("Storage.getCookies", {"browserContextId": self.id})["cookies"]

    def close(self):
        for page in self.pages:
            self.browser.listeners.pop(page.session, None)
        self.browser.call("Target.disposeBrowserContext", {"browserContextId": self.id})
