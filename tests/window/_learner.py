"""Somebody who goes through lessons in the real window: reads, looks, answers (wrongly first where that is wanted), tries, trains."""

import os
import re

import _display

PANEL = "lessons"
PRESSED = 12  # pixels that are to be seen of what is pressed


def plainly(text):
    """As the window writes it, without marks and line ends."""
    return " ".join(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).replace("*", "").replace("`", "").split())


def check(condition, what):
    if not condition:
        raise SystemExit(f"failed: {what}")


class Learner:
    """`pictures`: a folder for a picture of every step; None: none are taken."""

    def __init__(self, widgets, pictures=None):
        self.widgets, self.pictures = widgets, pictures
        self.steps = self.wrong = self.trained = 0

    # --- the list

    def begin(self, lesson, at=1):
        row = f"{lesson['name'].split('-')[0]}##{lesson['name']}"
        for _ in range(3):  # a busy machine may scroll the list under the mouse
            self.widgets.settle()
            self.reach(row)
            self.widgets.click(PANEL, row)
            if self.widgets.appears(PANEL, "Leave"):
                break
        self.arrive(lesson, at)

    def leave(self):
        self.widgets.click(PANEL, "Leave")
        self.widgets.wait(PANEL, "##folder")

    # --- a lesson

    def walk(self, lesson, train=False):
        """From its first step to its end, with a wrong answer to the first question that has one."""
        asked, wrong = 0, False
        for number, step in enumerate(lesson["steps"], 1):
            self.arrive(lesson, number)
            self.look_at(lesson, number, step)
            if step["kind"] == "ask":
                asked += 1
                wrong = self.answer(lesson, number, step, not wrong) or wrong
            if step["kind"] == "try":
                self.try_it(lesson, number)
            if step["kind"] == "run" and train:
                self.train(lesson, number)
            self.widgets.click(PANEL, "End" if number == len(lesson["steps"]) else "Next")
        end = f"{lesson['title']} is done: {asked - wrong} of {asked} answered right at the first attempt."
        self.widgets.wait(PANEL, end)
        self.photograph(lesson, len(lesson["steps"]) + 1, "end")
        self.leave()

    def arrive(self, lesson, number):
        self.widgets.wait(PANEL, f"{number} of {len(lesson['steps'])}")
        self.widgets.settle()
        self.steps += 1

    def look_at(self, lesson, number, step):
        panel = step.get("panel") or step.get("show", {}).get("panel")
        if panel:
            check(self.widgets.in_panel(panel), f"{lesson['name']}, step {number}: {panel} is not in front")
        self.photograph(lesson, number, step["kind"])
        if self.pictures:
            self.photograph_below(lesson, number, step["kind"])

    # --- questions

    def answer(self, lesson, number, step, wrongly):
        """Whether a wrong answer was given first."""
        mistake = self.mistake_in(step) if wrongly else None
        where = f"{lesson['name']}, step {number}"
        if mistake:
            check(self.widgets.find(PANEL, self.forward(lesson, number))["disabled"], f"{where}: one goes on without an answer")
            self.give(step, mistake[0])
            self.reach("Not so.")
            self.reach_text(plainly(mistake[1]), where)
            check(self.widgets.find(PANEL, self.forward(lesson, number))["disabled"], f"{where}: one goes on with a wrong answer")
            self.photograph(lesson, number, "wrong")
            self.wrong += 1
        self.give(step, step["right_answer"])
        self.reach("That is right.")
        self.photograph(lesson, number, "right")
        return mistake is not None

    @staticmethod
    def mistake_in(step):
        """(what is typed or pressed, what is said of it), None where the lesson knows none."""
        for mistake in step["wrong_answers"]:
            return mistake["answer"], mistake["thought"]
        return None

    def give(self, step, answer):
        kind = step["question"]["kind"]
        if kind in ("choose", "order"):
            for letter in answer.split():
                self.reach(f"{letter}##choice")
                self.widgets.click(PANEL, f"{letter}##choice")
                self.widgets.settle(0.15)
            if kind == "choose":
                return
            self.reach("Answer")
            self.widgets.click(PANEL, "Answer")
        else:
            self.reach("##answer")
            self.widgets.enter(PANEL, "##answer", answer)
        self.widgets.settle(0.15)

    @staticmethod
    def forward(lesson, number):
        return "End" if number == len(lesson["steps"]) else "Next"

    # --- what is tried and trained

    def try_it(self, lesson, number):
        self.reach("Try")
        self.widgets.click(PANEL, "Try")
        self.widgets.settle()
        self.photograph(lesson, number, "tried")

    def train(self, lesson, number):
        self.reach("Train it now")
        self.widgets.click(PANEL, "Train it now")
        self.widgets.wait(PANEL, "Stop")
        self.widgets.wait(PANEL, "Train it now", enabled=True)
        self.reach("the run and its prediction")
        check(self.widgets.find(PANEL, "what does not hold") is None, f"{lesson['name']}, step {number}: the run is not as predicted")
        self.photograph(lesson, number, "trained")
        self.trained += 1

    # --- the panel, which may be longer than the window

    def reach(self, label):
        """Scrolls until it is seen well enough to be pressed, from where the panel is and then from its top."""
        def seen():
            item = self.widgets.find(PANEL, label)
            return item is not None and item["box"][3] - item["box"][1] > PRESSED
        self.reach_where(label, seen)

    def reach_text(self, text, where):
        self.reach_where(f"{where}: '{text}'",
                         lambda: any(text in plainly(item["label"]) for item in self.widgets.in_panel(PANEL)))

    def reach_where(self, what, seen):
        self.widgets.settle(0.15)
        for notches in [0] + [3] * 8 + [-60] + [3] * 12:
            if notches:
                self.widgets.scroll(PANEL, notches)
                self.widgets.settle(0.15)
            if seen():
                return
        raise SystemExit(f"failed: not to be found in the lesson: {what}")

    # --- pictures

    def photograph(self, lesson, number, what):
        if self.pictures:
            self.widgets.settle()
            self.widgets.photograph(os.path.join(self.pictures, f"{lesson['name']}-{number:02}-{what}.png"))

    def photograph_below(self, lesson, number, what):
        """What does not fit, and back to the top."""
        before = self.widgets.in_panel(PANEL)
        self.widgets.scroll(PANEL, 6)
        self.widgets.settle()
        if self.widgets.in_panel(PANEL) != before:
            self.photograph(lesson, number, what + "-below")
        self.widgets.scroll(PANEL, -60)
