"""A program in a terminal of its own: what it prints until it asks, and what somebody types."""

import os
import pty
import re
import select
import subprocess
import time


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Terminal:
    """Without its colours. Context: the program runs inside it and is ended after it, however it is left."""

    def __init__(self, command, env, cwd):
        self._ours, theirs = pty.openpty()
        self._process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=env, cwd=cwd, start_new_session=True)
        os.close(theirs)
        self.text = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._ours)

    def until(self, endings, timeout=60):
        """What was printed until its end is one of `endings`: (text, ending). At the program's end: (text, None)."""
        text, end = "", time.monotonic() + timeout
        while time.monotonic() < end:
            if select.select([self._ours], [], [], 0.2)[0]:
                try:
                    read = os.read(self._ours, 65536).decode(errors="replace").replace("\r\n", "\n")
                except OSError:  # the other side is closed
                    read = ""
                if not read:
                    return text, None
                text = COLOUR.sub("", text + read)
                self.text += COLOUR.sub("", read)
            found = [ending for ending in endings if text.endswith(ending)]
            if found:
                return text, found[0]
        raise AssertionError(f"nothing was asked within {timeout} s; the last was:\n{text[-2000:]}")

    def type(self, line):
        os.write(self._ours, (line + "\n").encode())

    def code(self):
        return self._process.wait(timeout=60)
