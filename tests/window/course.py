"""The course walked through in the real window, by the mouse and the keyboard: every step reached, every question answered.

By day every ninth lesson; all of them with $SHARDLAB_NIGHTLY. By hand:
course.py [--pictures FOLDER] [LESSON ...], a picture of each step in the folder.
"""

import argparse
import json
import os
import subprocess
import time

import _display
import _learner
import _widgets

SHARDLAB = os.environ.get("SHARDLAB", os.path.join(_display.BUILD, "bin", "shardlab"))
NIGHTLY = bool(os.environ.get("SHARDLAB_NIGHTLY"))
TRAINS = bool(os.environ.get("SHARDLAB_PYTHON"))  # built with libtorch
SIZE = (1440, 900)


def told(*arguments):
    return json.loads(subprocess.run([SHARDLAB, "lesson", *arguments, "--json"], check=True, text=True, stdout=subprocess.PIPE).stdout)


def names_of_today(names):
    return names if NIGHTLY else names[::9]


def open_lessons(widgets):
    widgets.settle()
    widgets.click(None, "Lessons")
    widgets.wait(_learner.PANEL, "##folder")


def leave_and_come_back(learner, widgets, lesson):
    """Leaves in the middle, and once with the window."""
    learner.begin(lesson)
    widgets.click(_learner.PANEL, "Next")
    learner.arrive(lesson, 2)
    learner.leave()
    learner.begin(lesson, at=2)
    widgets.quit()
    widgets.start()
    open_lessons(widgets)
    learner.begin(lesson, at=2)
    widgets.click(_learner.PANEL, "Back")
    learner.arrive(lesson, 1)
    widgets.click(_learner.PANEL, "Leave")
    widgets.wait(_learner.PANEL, "##folder")


def walk_all(learner, widgets, chosen):
    begin = time.monotonic()
    open_lessons(widgets)
    leave_and_come_back(learner, widgets, told(chosen[0]))
    for name in chosen:
        lesson = told(name)
        learner.begin(lesson)
        learner.walk(lesson, train=TRAINS and (NIGHTLY or name == chosen[0]))
        print(f"  {name}: {len(lesson['steps'])} steps, {time.monotonic() - begin:.0f} s since the beginning", flush=True)
    widgets.quit()


parser = argparse.ArgumentParser()
parser.add_argument("--pictures", metavar="FOLDER")
parser.add_argument("lessons", nargs="*", metavar="LESSON")
options = parser.parse_args()
if options.pictures:
    os.makedirs(options.pictures, exist_ok=True)

with _display.Display() as display:
    names = [lesson["name"] for part in told()["parts"] for lesson in part["lessons"]]
    chosen = [name for name in names if any(word in name for word in options.lessons)] or names_of_today(names)
    widgets = _widgets.Widgets(display, SIZE)
    learner = _learner.Learner(widgets, options.pictures)
    try:
        walk_all(learner, widgets, chosen)
    except SystemExit:
        if options.pictures:
            widgets.photograph(os.path.join(options.pictures, "failed.png"))
        raise
    print(f"{len(chosen)} lessons of {len(names)} walked through: {learner.steps} steps reached, {learner.wrong} wrong answers explained, "
          f"{learner.trained} runs trained")
