"""Files dropped on the real window: configurations of other tools become a scenario together, undo goes back, nonsense changes nothing."""

import os
import shutil
import sys
import time

import _display
import _drag

WAIT = 120  # seconds: software rendering on a busy machine
CASE = os.path.join(_display.SOURCE, "tests/data/imports/good/accelerate_and_deepspeed")


def wait_until(what, condition):
    end = time.monotonic() + WAIT
    while not condition():
        if time.monotonic() > end:
            raise SystemExit(f"failed: {what} did not happen")
        time.sleep(0.2)


with _display.Display() as display:
    folder = display.folder.name
    scenario = os.path.join(folder, "mine.yaml")
    shutil.copy(os.path.join(_display.SOURCE, "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"), scenario)
    gui = display.start("--size", "1400x900", scenario)
    wait_until("a window", lambda: gui.poll() is not None or display.find("mine.yaml"))
    if gui.poll() is not None:
        output = gui.stdout.read()
        print(output)
        sys.exit(77 if "OpenGL" in output else 1)
    window = display.find("mine.yaml")

    def drop(*files):
        _drag.drop(display.environment["DISPLAY"], window, files)

    letter = os.path.join(folder, "letter.json")
    with open(letter, "w", encoding="utf-8") as file:
        file.write("Dear reader")
    drop(letter)
    time.sleep(1)
    wait_until("the same scenario", lambda: display.find("mine.yaml"))
    drop(*(os.path.join(CASE, name) for name in sorted(os.listdir(CASE))))
    wait_until("a scenario of the files", lambda: display.find("untitled"))
    display.xdotool("mousemove", 700, 450, "sleep", 0.5)
    display.press("ctrl+z")
    wait_until("the scenario that was open", lambda: display.find("mine.yaml"))
    display.press("ctrl+q")
    wait_until("the end", lambda: gui.poll() is not None)
    output = gui.stdout.read()
    if gui.returncode != 0 or output:
        print(f"failed: exit code {gui.returncode}, output {output!r}")
        sys.exit(1)
    print("dropped nonsense and three files of one training, undone, quit: as expected")
