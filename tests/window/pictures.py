"""`shardlab gui --screenshot` without a display: every panel, both themes, two scales, bad arguments."""

import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

SHARDLAB = os.environ["SHARDLAB"]
SOURCE = os.environ["SHARDLAB_SOURCE"]
SCENARIO = os.path.join(SOURCE, "scenarios/first/tiny-llama.yaml")
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)


def gui(*arguments):
    environment = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment.update(XDG_CONFIG_HOME=folder, SHARDLAB_DB=os.path.join(folder, "runs.db"))
    return subprocess.run([SHARDLAB, "gui", *arguments], env=environment, capture_output=True, text=True, timeout=600)


def picture(path):
    """Width, height and the number of different bytes of a PNG's data."""
    with open(path, "rb") as file:
        data = file.read()
    check(data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG")
    width, height = struct.unpack(">II", data[16:24])
    packed, at = b"", 8
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    return width, height, len(set(zlib.decompress(packed)))


with tempfile.TemporaryDirectory() as folder:
    target = os.path.join(folder, "picture.png")
    wrong = gui("--screenshot", target, "--panel", "nothing", SCENARIO)
    check(wrong.returncode == 2 and "there is no panel 'nothing'" in wrong.stderr, f"unknown panel: {wrong}")
    panels = sorted(set(os.listdir(os.path.join(SOURCE, "gui/panels"))))
    check(len(panels) >= 5, f"panels: {panels}")
    for panel in panels:
        for theme, scale, size in (("dark", "1", "640x480"), ("light", "2", "1000x800")):
            made = gui("--screenshot", target, "--panel", panel, "--size", size, "--theme", theme, "--scale", scale, SCENARIO)
            check(made.returncode == 0 and not made.stderr, f"{panel} {theme}: {made}")
            width, height, different = picture(target)
            check(f"{width}x{height}" == size, f"{panel}: {width}x{height}")
            check(different > 30, f"{panel} {theme} is blank")
            os.remove(target)
    for arguments in (["--size", "wide"], ["--size", "1x1"], ["--size", "100000x100000"], ["--theme", "pink"], ["--scale", "0"],
                      ["--scale", "nan"], ["--played", "2"], ["--played", "nan"], ["--colour"]):
        bad = gui("--screenshot", target, *arguments)
        check(bad.returncode == 2 and re.search("error: ", bad.stderr), f"{arguments}: {bad}")
    nowhere = gui("--screenshot", os.path.join(folder, "no", "folder.png"))
    check(nowhere.returncode == 2 and "cannot be written" in nowhere.stderr, f"unwritable: {nowhere}")
    missing = gui("--screenshot", target, os.path.join(folder, "missing.yaml"))
    check(missing.returncode == 0, f"a missing scenario is a message in the window: {missing}")
    no_display = gui()
    check(no_display.returncode == 3 and "--screenshot" in no_display.stderr, f"no display: {no_display}")

print("\n".join(failures) or f"{len(panels)} panels drawn twice")
sys.exit(1 if failures else 0)
