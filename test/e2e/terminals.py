"""Reads a pseudo-terminal from its other side."""

import fcntl
import os
import pty
import select
import struct
import termios


class Terminal:
    """A terminal of a size. `follower` is for the program, which has it as its standard output."""

    def __init__(self, rows, columns):
        self.leader, self.follower = pty.openpty()
        fcntl.ioctl(self.follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.shown = b""

    def text(self):
        """Returns everything that was printed so far."""
        while select.select([self.leader], [], [], 0)[0]:
            try:
                self.shown += os.read(self.leader, 65536)
            except OSError:  # The program has ended.
                break
        return self.shown.decode("utf-8", "replace").replace("\r\n", "\n")

    def close(self):
        os.close(self.leader)
        os.close(self.follower)


def read_all(leader):
    """Returns everything that is printed on it until the program closes it. Closes it too."""
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux returns EIO when the other side is closed.
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    return shown
