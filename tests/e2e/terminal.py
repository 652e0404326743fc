# SPDX-License-Identifier: MIT
"""A real terminal of any width, and what a command draws on it."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

LONG_S = 120


def open_terminal(columns):
    here, there = pty.openpty()
    fcntl.ioctl(there, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
    return here, there


def read_all(here):
    """All that is written until nobody has the other side open any more."""
    seen = b''
    while True:
        try:
            piece = os.read(here, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        seen += piece
    os.close(here)
    return seen.decode()


def on_terminal(argv, columns, cwd, env, stdin=subprocess.DEVNULL, **more):
    """Exit code, and what a terminal of that width was sent on standard error."""
    here, there = open_terminal(columns)
    process = subprocess.Popen(argv, cwd=cwd, env={**env, 'TERM': 'xterm', **more},
                               stdin=there if stdin is None else stdin,
                               stdout=subprocess.DEVNULL, stderr=there)
    os.close(there)
    seen = read_all(here)
    return process.wait(timeout=LONG_S), seen


def drawn(seen):
    """The live line, each time that it was drawn."""
    return [re.split('\r|\n', part)[0] for part in seen.split('\r\x1b[K')[1:]]
