"""A display of its own for a test: Xvfb, and the mouse and keyboard of xdotool. Skips (77) where they are missing."""

import os
import shutil
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("SHARDLAB_BUILD", "build")
GUI = os.path.join(BUILD, "bin", "shardlab-gui")
SOURCE = os.environ.get("SHARDLAB_SOURCE", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


WAIT = 120  # seconds: software rendering on a busy machine


def wait_until(what, condition):
    end = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"failed: {what} did not happen")
        time.sleep(0.2)


def need(*programs):
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        print(f"skipped: no {', '.join(missing)} here (Debian: xvfb, xdotool)")
        sys.exit(77)


class Display:
    def __init__(self):
        need("Xvfb", "xdotool")
        self.folder = tempfile.TemporaryDirectory()
        read, write = os.pipe()
        self.server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-noreset", "-nolisten", "tcp"],
            pass_fds=[write], stderr=subprocess.DEVNULL)
        os.close(write)
        number = b""
        while not number.endswith(b"\n"):
            part = os.read(read, 16)
            if not part:
                print("skipped: Xvfb does not start here")
                sys.exit(77)
            number += part
        os.close(read)
        # Preferences of its own; software rendering, whatever drivers there are.
        self.environment = dict(os.environ, DISPLAY=":" + number.decode().strip(), LIBGL_ALWAYS_SOFTWARE="1",
                                XDG_CONFIG_HOME=self.folder.name, SHARDLAB_DB=os.path.join(self.folder.name, "runs.db"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait()
        self.folder.cleanup()

    def start(self, *arguments):
        return subprocess.Popen([GUI, *arguments], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)

    def window_of(self, gui, title):
        """Once it is there; skips where there is no OpenGL."""
        wait_until("a window", lambda: gui.poll() is not None or self.find(title))
        if gui.poll() is not None:
            output = gui.stdout.read()
            print(output)
            sys.exit(77 if "OpenGL" in output else 1)
        return self.find(title)

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=True, text=True,
                              stdout=subprocess.PIPE, timeout=120).stdout.strip()

    def press(self, keys):
        """Holds each a while: a slow frame sees nothing of keys that come and go within it."""
        for key in keys.split("+"):
            self.xdotool("keydown", key)
            time.sleep(0.15)
        for key in reversed(keys.split("+")):
            self.xdotool("keyup", key)
            time.sleep(0.15)

    def find(self, title):
        """The number of the window with this title; empty when there is none."""
        found = subprocess.run(["xdotool", "search", "--name", title], env=self.environment, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=120).stdout.split()
        return found[0] if found else ""
