"""Files dropped on the real window: configurations of other tools become a scenario together, undo goes back, nonsense changes nothing."""

import os
import shutil
import sys
import time

import _display
import _drag

CASE = os.path.join(_display.SOURCE, "tests/data/imports/good/accelerate_and_deepspeed")

with _display.Display() as display:
    folder = display.folder.name
    scenario = os.path.join(folder, "mine.yaml")
    shutil.copy(os.path.join(_display.SOURCE, "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"), scenario)
    gui = display.start("--size", "1400x900", scenario)
    window = display.window_of(gui, "mine.yaml")

    def drop(*files):
        _drag.drop(display.environment["DISPLAY"], window, files)

    letter = os.path.join(folder, "letter.json")
    with open(letter, "w", encoding="utf-8") as file:
        file.write("Dear reader")
    drop(letter)
    time.sleep(1)
    _display.wait_until("the same scenario", lambda: display.find("mine.yaml"))
    drop(*(os.path.join(CASE, name) for name in sorted(os.listdir(CASE))))
    _display.wait_until("a scenario of the files", lambda: display.find("untitled"))
    display.xdotool("mousemove", 700, 450, "sleep", 0.5)
    display.press("ctrl+z")
    _display.wait_until("the scenario that was open", lambda: display.find("mine.yaml"))
    display.press("ctrl+q")
    _display.wait_until("the end", lambda: gui.poll() is not None)
    output = gui.stdout.read()
    if gui.returncode != 0 or output:
        print(f"failed: exit code {gui.returncode}, output {output!r}")
        sys.exit(1)
    print("dropped nonsense and three files of one training, undone, quit: as expected")
