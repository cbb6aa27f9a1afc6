"""The course's test: both sides of every question that it lets this machine answer, trained for real.

Each peak is the predicted one to the byte and moves as the right answer says. Step times are printed, since they are this machine's.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
from _shardlab import SOURCE, Place, check, expect, main, needs_torch  # noqa: E402  (its folder is on the path only now)

LESSON = SOURCE / "scenarios/lessons/final"
QUESTIONS = 6
LEAST_MOVE = 0.03  # of a peak that rises or falls; one that stays moves by less
TURNS = 2  # of both sides, so that what else the machine does meets both
STEPS = 8


def scenarios():
    """Of lesson.yaml: name -> (file, its settings as --set takes them)."""
    section = (LESSON / "lesson.yaml").read_text().split("\nscenarios:\n")[1].split("\nsteps:\n")[0]
    found = {}
    for name, text in re.findall(r"^  (\w+):(.*?)(?=^  \w|\Z)", section + "\n", re.MULTILINE | re.DOTALL):
        file = re.search(r"[\w.-]+\.yaml", text).group()
        settings = re.search(r"set: \{ (.*?) \}", text, re.DOTALL)
        # One key each; its value may be a list.
        found[name] = (file, [re.sub(r": ", "=", settings.group(1), count=1)] if settings else [])
    return found


def questions():
    """(The scenario before the change, the one after it, the right answer) of every question that a run follows."""
    listed = scenarios()
    pairs, answer = [], None
    for step in expect(Place().run("lesson", LESSON, "--json"), 0).json()["steps"]:
        if step["kind"] == "ask":
            answer = next(option["answer"] for option in step["question"]["options"] if option["right"])
        if step["kind"] == "run":
            file = listed[step["scenario"]][0]
            before = next(name for name, (its_file, settings) in listed.items() if its_file == file and not settings)
            pairs.append((before, step["scenario"], answer))
    return pairs


def outcome(place, command, scenario, *more):
    """Of a prediction or a run: peak, fastest step in seconds."""
    file, settings = scenario
    words = [word for setting in settings for word in ("--set", setting)]
    result = expect(place.run(command, LESSON / file, *words, *more, "--json", timeout=300), 0).json()
    return result["memory"]["peak_allocated"], result["step_time_ns"]["min"] / 1e9


def moves_as_said(before, after, answer):
    move = after / before - 1
    said = re.search(r"peak (falls|rises|stays)", answer)
    check(said, f"the answer says nothing of the peak: {answer}")
    return {"falls": move < -LEAST_MOVE, "rises": move > LEAST_MOVE, "stays": abs(move) < LEAST_MOVE}[said.group(1)]


def test_both_sides_of_every_question():
    listed, asked = scenarios(), questions()
    check(len(asked) == QUESTIONS, f"{len(asked)} questions are followed by a run")
    for before, after, answer in asked:
        place = Place()
        predicted = {name: outcome(place, "simulate", listed[name], "--no-calibration") for name in (before, after)}
        trained = {before: [], after: []}
        for _ in range(TURNS):
            for name, runs in trained.items():
                runs.append(outcome(place, "run", listed[name], "--set", f"measure.steps={STEPS}"))
        for name, runs in trained.items():
            for peak, _ in runs:
                check(peak == predicted[name][0], f"{name}: a peak of {peak} bytes, predicted {predicted[name][0]}")
        peaks = [trained[name][0][0] for name in (before, after)]
        check(moves_as_said(*peaks, answer), f"{after}: from {peaks[0]} to {peaks[1]} bytes, and the answer is: {answer}")
        seconds = [min(run[1] for run in trained[name]) for name in (before, after)]
        print(f"  {before:<7} {after:<17} peak {peaks[0] / 2**20:6.1f} to {peaks[1] / 2**20:6.1f} MiB; step time"
              f" {seconds[1] / seconds[0]:.2f} times, predicted {predicted[after][1] / predicted[before][1]:.2f}")


if __name__ == "__main__":
    needs_torch()
    main(globals())
