"""The real window on a display of its own, with a real mouse and keyboard: open, click, type, save, resize, quit."""

import json
import os
import shutil
import sys
import time

import _display


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


with _display.Display() as display:
    folder = display.folder.name
    scenario = os.path.join(folder, "mine.yaml")
    shutil.copy(os.path.join(_display.SOURCE, "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"), scenario)
    preferences = os.path.join(folder, "shardlab", "gui.json")
    gui = display.start("--size", "1400x900", scenario)
    window = display.window_of(gui, "mine.yaml")
    time.sleep(2)

    # The mouse: the View menu, and its second entry.
    display.xdotool("mousemove", 105, 11, "sleep", 0.5, "click", 1, "sleep", 1)
    display.xdotool("mousemove", 150, 62, "sleep", 0.5, "click", 1, "sleep", 1)
    # The keyboard: the palette knows what the menu knows.
    display.press("ctrl+shift+p")
    time.sleep(1)
    display.xdotool("type", "--delay", 80, "smaller")
    display.press("Return")
    # Another program writes the file while it is open.
    text = read(scenario)
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(text.replace("micro_batch: 1", "micro_batch: [1"))
    time.sleep(3)
    with open(scenario, "w", encoding="utf-8") as file:
        file.write(text)
    time.sleep(2)
    display.xdotool("windowsize", window, 700, 500)
    time.sleep(1)
    display.xdotool("windowsize", window, 1500, 950)
    time.sleep(1)
    if gui.poll() is not None:
        print(gui.stdout.read())
        raise SystemExit(f"failed: the window ended with {gui.returncode}")
    display.press("ctrl+q")
    _display.wait_until("the end", lambda: gui.poll() is not None)
    output = gui.stdout.read()
    kept = json.loads(read(preferences))
    failures = []
    if gui.returncode != 0 or output:
        failures.append(f"exit code {gui.returncode}, output {output!r}")
    if kept["theme"] != "light":
        failures.append(f"the menu's click did not change the theme: {kept['theme']}")
    if not 0.8 < kept["scale"] < 0.95:
        failures.append(f"the palette did not change the scale: {kept['scale']}")
    if "scenario" not in kept["layout"]:
        failures.append("the layout was not kept")
    if os.path.realpath(scenario) not in [os.path.realpath(path) for path in kept["recent_files"]]:
        failures.append(f"recent files: {kept['recent_files']}")
    print("\n".join(failures) or "clicked, typed, resized, quit: as expected")
    sys.exit(1 if failures else 0)
