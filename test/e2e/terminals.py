"""Reads a pseudo-terminal from its other side."""

import os


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
