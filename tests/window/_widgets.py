"""What a person does with the widgets of the real window: finds them by what is written on them, clicks, types, scrolls.

The window keeps a file of where they are (`shardlab gui --items FILE`).
"""

import json
import os
import time

import _display
import _picture


class Widgets:
    def __init__(self, display, size, scenario=None):
        self.display, self.size = display, size
        self.file = os.path.join(display.folder.name, "items.json")
        self.camera = _picture.Camera(display.environment["DISPLAY"])
        self.start(scenario)

    def start(self, scenario=None):
        if os.path.exists(self.file):
            os.remove(self.file)
        width, height = self.size
        self.gui = self.display.start("--size", f"{width}x{height}", "--items", self.file, *([scenario] if scenario else []))
        self.display.window_of(self.gui, "shardlab")
        _display.wait_until("a file of widgets", lambda: os.path.exists(self.file))

    def quit(self):
        """What was tried in a lesson need not be saved."""
        self.display.press("ctrl+q")
        _display.wait_until("the end", lambda: self.gui.poll() is not None or self.find(None, "Quit without saving"))
        if self.gui.poll() is None:
            self.click(None, "Quit without saving")
        _display.wait_until("the end", lambda: self.gui.poll() is not None)
        output = self.gui.stdout.read()
        if self.gui.returncode != 0 or output:
            raise SystemExit(f"failed: exit code {self.gui.returncode}, output {output!r}")

    def read(self):
        if self.gui.poll() is not None:
            raise SystemExit(f"failed: the window ended with {self.gui.returncode}: {self.gui.stdout.read()}")
        with open(self.file, encoding="utf-8") as file:
            return json.load(file)

    def in_panel(self, panel):
        """The widgets of a panel, those of its children too; of all windows without one."""
        inside = [f"###{panel}", f"###{panel}/"]
        return [item for item in self.read()["items"]
                if panel is None or item["window"].endswith(inside[0]) or inside[1] in item["window"]]

    def find(self, panel, label):
        """By its whole label, else by what is before ##; None where it is not seen."""
        items = self.in_panel(panel)
        for same in (lambda item: item["label"] == label, lambda item: item["label"].split("##")[0] == label):
            found = [item for item in items if same(item)]
            if found:
                return found[0]
        return None

    def wait(self, panel, label, enabled=False):
        def there():
            item = self.find(panel, label)
            return item is not None and not (enabled and item["disabled"])
        _display.wait_until(f"'{label}' in {panel}", there)
        return self.find(panel, label)

    def appears(self, panel, label, seconds=10):
        end = time.monotonic() + seconds
        while not self.find(panel, label) and time.monotonic() < end:
            time.sleep(0.1)
        return self.find(panel, label) is not None

    def settle(self, quiet=0.3):
        """Until nothing moves and nothing is reckoned."""
        end, before, since = time.monotonic() + _display.WAIT, None, time.monotonic()
        while time.monotonic() < end:
            now = self.read()
            if now["busy"] or now != before:
                before, since = now, time.monotonic()
            elif time.monotonic() - since > quiet:
                return
            time.sleep(0.05)
        raise SystemExit("failed: the window does not come to rest")

    def click(self, panel, label):
        left, top, right, bottom = self.resting(panel, label)
        self.click_at((left + right) / 2, (top + bottom) / 2)

    def resting(self, panel, label):
        """Where it is once it no longer moves: a slow frame scrolls long after the wheel turned."""
        before, box = None, self.wait(panel, label, enabled=True)["box"]
        while box != before:
            time.sleep(0.15)
            before, box = box, self.wait(panel, label, enabled=True)["box"]
        return box

    def click_at(self, x, y):
        self.display.xdotool("mousemove", round(x), round(y), "sleep", 0.1, "click", 1, "sleep", 0.05)

    def enter(self, panel, label, text):
        """Into a field, in the place of what is there."""
        self.click(panel, label)
        self.display.press("ctrl+a")
        self.display.xdotool("type", "--delay", 25, text)
        self.display.press("Return")

    def scroll(self, panel, notches):
        """Down where positive, with the mouse over the panel."""
        boxes = [item["box"] for item in self.in_panel(panel)]
        x = (min(box[0] for box in boxes) + max(box[2] for box in boxes)) / 2
        y = (min(box[1] for box in boxes) + max(box[3] for box in boxes)) / 2
        self.display.xdotool("mousemove", round(x), round(y), "click", "--repeat", abs(notches), "--delay", 30, 5 if notches > 0 else 4,
                             "sleep", 0.1)

    def photograph(self, path):
        self.camera.take(path, *self.size)
