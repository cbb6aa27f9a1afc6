"""What the tests of users share: a user asks one command after another, and what matters in each answer is compared."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from _shardlab import SOURCE, Place, check, expect, main  # noqa: E402,F401

GIB = 1 << 30


class User:
    """Counts the commands that somebody needed, and the seconds that they took."""

    def __init__(self):
        self.place = Place()
        self.commands = 0
        self.seconds = 0.0

    def ask(self, *arguments, code=0):
        self.commands += 1
        result = expect(self.place.run(*arguments), code)
        self.seconds += result.seconds
        return result

    def predict(self, scenario, *settings):
        """The figures of a prediction; settings as for --set."""
        options = [part for setting in settings for part in ("--set", setting)]
        return self.ask("simulate", scenario, *options, "--json").json()

    def done(self, most):
        print(f"        {self.commands} commands, {self.seconds:.1f} s")
        check(self.commands <= most, f"{self.commands} commands, {most} should do")


def near(actual, expected, share, what):
    check(abs(actual - expected) <= share * expected, f"{what}: {actual}, expected {expected} within {share:.0%}")


def setting_of(document, setting):
    """The alternative with this setting, or None."""
    return next((each for each in document["alternatives"] if each["setting"] == setting), None)
