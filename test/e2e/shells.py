"""Terminals with a bash in them, for a test that types what a reader would type.

A Desk is what a reader has: a checkout with the built program, a home folder, a kubectl, and as
many terminals as the page names. As root it also has its own network and its own /tmp, so that
pages can run at the same time although each names the ports and folders it uses. Otherwise desks
take turns.
"""

import codecs
import contextlib
import ctypes
import fcntl
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import time

import tools

CLONE_NEWNS = 0x00020000
CLONE_NEWNET = 0x40000000
# The commands that make new namespaces usable. Mounts there are not visible outside.
SEPARATE = (f"{tools.MOUNT} --make-rprivate / && {tools.IP} link set lo up"
            f" && {tools.MOUNT} -t tmpfs -o mode=1777 tmpfs /tmp")
COLUMNS = 200
PATIENCE = 90  # Seconds for one command, with sanitizers on a busy machine.
PROMPT = "<<the prompt of the test>>"
UNFINISHED = "<<more of the command is missing>>"


class NotDone(Exception):
    """A command did not do in time what the test waited for."""


def separated(paths):
    """Gives this process its own network and /tmp. Returns whether that was possible."""
    if os.geteuid() != 0 or any(str(path).startswith("/tmp/") for path in paths):
        return False
    if subprocess.run(["unshare", "--mount", "--net", "sh", "-c", SEPARATE], check=False,
                      stderr=subprocess.DEVNULL).returncode != 0:
        return False
    if ctypes.CDLL(None).unshare(CLONE_NEWNS | CLONE_NEWNET) != 0:
        return False
    subprocess.run(["sh", "-c", SEPARATE], check=True)
    return True


class Terminal:
    """An interactive bash. `shown` is what the terminal shows since the last command was typed."""

    def __init__(self, desk):
        self.desk = desk
        self.shown = ""
        # A character may arrive in two pieces.
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        leader, follower = pty.openpty()
        settings = termios.tcgetattr(follower)
        settings[1] &= ~termios.OPOST  # Lines end as the programs wrote them,
        settings[3] &= ~termios.ECHO  # and typed text does not appear in the output.
        termios.tcsetattr(follower, termios.TCSANOW, settings)
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "--noediting", "-i"], cwd=desk.checkout,
            env=desk.environment(), stdin=follower, stdout=follower, stderr=follower,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(follower)
        self.leader = leader

    def read(self):
        with contextlib.suppress(OSError):  # Linux returns EIO when the other side is closed.
            self.shown += self.decoder.decode(os.read(self.leader, 65536))

    def text(self):
        """Returns what is shown, without the prompt and without escape sequences."""
        text = self.shown.removesuffix(PROMPT)
        text = re.sub(r"[^\n]*\r\x1b\[K", "", text)  # A line of progress that was erased.
        text = text.replace("\r", "")
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)

    def is_free(self):
        return self.shown.endswith(PROMPT)

    def type(self, command):
        """Types a line when the shell is ready for one."""
        self.desk.wait(self.is_free)
        self.shown = ""
        os.write(self.leader, command.encode() + b"\n")

    def interrupt(self):
        """Types Ctrl-C. Then `shown` is what the program shows after it."""
        self.shown = ""
        os.write(self.leader, b"\x03")
        self.desk.wait(self.is_free)

    def members(self):
        """Yields the processes that were started in the terminal."""
        for folder in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError, ValueError):
                session = int((folder / "stat").read_text().rpartition(")")[2].split()[3])
                if session == self.process.pid:
                    yield int(folder.name)

    def close(self):
        for process in self.members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.process.wait()
        os.close(self.leader)


class Desk:
    """The place of a reader. Use it in a `with` statement."""

    def __init__(self, program, kubectl):
        self.program = pathlib.Path(program).resolve()
        self.kubectl = pathlib.Path(kubectl).resolve()
        self.terminals = {}
        self.cleanup = contextlib.ExitStack()

    def __enter__(self):
        if not separated([tools.ROOT, self.program, self.kubectl]):
            lock = self.cleanup.enter_context(open(os.path.join(tools.ROOT, "README.md"), "rb"))
            fcntl.flock(lock, fcntl.LOCK_EX)
        folder = pathlib.Path(self.cleanup.enter_context(tempfile.TemporaryDirectory()))
        self.home = folder / "home"
        self.home.mkdir()
        self.checkout = folder / "berth"
        shutil.copytree(os.path.join(tools.ROOT, "docs"), self.checkout / "docs")
        shutil.copy(os.path.join(tools.ROOT, "README.md"), self.checkout)
        (self.checkout / "build").mkdir()
        (self.checkout / "build" / "berth").symlink_to(self.program)
        return self

    def __exit__(self, *_):
        for terminal in self.terminals.values():
            terminal.close()
        self.cleanup.close()

    def environment(self):
        return {"PATH": f"{self.kubectl.parent}:/usr/bin:/bin", "HOME": str(self.home),
                "LANG": "C.UTF-8", "TERM": "dumb", "PS1": PROMPT, "PS2": UNFINISHED}

    def terminal(self, number):
        if number not in self.terminals:
            self.terminals[number] = Terminal(self)
        return self.terminals[number]

    def wait(self, done):
        """Reads what all terminals show until `done` is true."""
        deadline = time.monotonic() + PATIENCE
        leaders = {terminal.leader: terminal for terminal in self.terminals.values()}
        while not done():
            if time.monotonic() > deadline:
                raise NotDone(f"not done after {PATIENCE} seconds")
            if any(terminal.shown.endswith(UNFINISHED) for terminal in leaders.values()):
                raise NotDone("the shell waits for the rest of the command")
            if any(terminal.process.poll() is not None for terminal in leaders.values()):
                raise NotDone("the shell has ended")
            for leader in select.select(list(leaders), [], [], 0.5)[0]:
                leaders[leader].read()
