"""A pseudo-terminal as seen from its other side."""

import os


def read_all(leader):
    """Everything that is printed on it until the program closes it; closes it too."""
    shown = b""
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # Linux says EIO when the other side is closed.
            break
        if not chunk:
            break
        shown += chunk
    os.close(leader)
    return shown
