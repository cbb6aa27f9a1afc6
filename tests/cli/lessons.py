"""The lessons of the course still say what the program says, and a learner gets through them in a terminal."""
# processors: 1

import csv
import os
import re
import resource
import shutil
import sqlite3

from _shardlab import PROGRAM, SOURCE, Place, check, expect, expect_error, main
from _terminal import Terminal

COURSE = SOURCE / "scenarios/lessons"
MOST_SECONDS = 20  # of one processor, for the check of all lessons

LESSON = """title: A lesson
minutes: 5
able: do it
scenarios: {{a: tiny.yaml{scenarios}}}
steps:
  - text: Two ranks.
{steps}"""
QUESTION = """  - ask:
      question: Which?
      choose:
        - answer: this
          right: {first}
        - answer: that
          right: {second}
          thought: Wrong.
          source: nowhere, https://example.org
"""
GOOD_QUESTION = QUESTION.format(first="peak_allocated(a) > 1 KiB", second="peak_allocated(a) < 1 KiB")


def lesson_names():
    return sorted(folder.name for folder in COURSE.iterdir() if (folder / "lesson.yaml").exists())


def write_lesson(place, name, steps, scenarios="", replace=("", "")):
    folder = place.path / name
    folder.mkdir()
    shutil.copy(COURSE / "04-unit-by-unit/tiny.yaml", folder / "tiny.yaml")
    text = LESSON.format(steps=steps, scenarios=scenarios)
    (folder / "lesson.yaml").write_text(text.replace(*replace) if replace[0] else text)
    return folder


def test_every_lesson_holds():
    place = Place()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = expect(place.run("lesson", "--check"), 0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"  {result.out.splitlines()[-1]}; {processor:.1f} s of one processor")
    check(processor < MOST_SECONDS, f"the check takes {processor:.1f} s of a processor")
    for name in lesson_names():
        check(re.search(rf"{name} +good", result.out), f"{name} is not said to be good", result)


def test_the_course_lists_every_lesson():
    place = Place()
    listed = [each["name"] for part in expect(place.run("lesson", "--json"), 0).json()["parts"] for each in part["lessons"]]
    check(sorted(listed) == lesson_names(), f"the course lists {listed}, the folder has {lesson_names()}")
    words = set()
    for line in (COURSE / "words/words.yaml").read_text().splitlines():
        if "- word: " in line:
            words.update(word.strip() for word in line.split("- word: ")[1].strip("[]").split(","))
    for part in expect(place.run("lesson", "--json"), 0).json()["parts"]:
        for lesson in part["lessons"]:
            unknown = set(lesson["teaches"]) - words
            check(not unknown, f"{lesson['name']} teaches {unknown}, which the glossary does not have")
            check(set(lesson["needs"]) <= set(listed[:listed.index(lesson["name"])]), f"{lesson['name']} needs lessons that come later")


def test_a_changed_number_fails():
    place = Place()
    folder = place.path / "01-sixteen-bytes"
    shutil.copytree(COURSE / "01-sixteen-bytes", folder)
    expect(place.run("lesson", folder, "--check"), 0)
    text = (folder / "lesson.yaml").read_text()
    check("{{ 16 is state_bytes" in text, "the lesson does not say 16 bytes")
    (folder / "lesson.yaml").write_text(text.replace("{{ 16 is state_bytes", "{{ 15 is state_bytes"))
    result = expect(place.run("lesson", folder, "--check"), 1)
    check("the text says 15, but state_bytes(one) / parameters(one) / 1 B is 16" in result.out, "it does not say which figure", result)
    (folder / "lesson.yaml").write_text(text.replace("{{ 16 is state_bytes(one) / parameters(one) / 1 B }} bytes", "16 bytes"))
    result = expect(place.run("lesson", folder, "--check"), 1)
    check("'16' is a figure that is typed by hand" in result.out, "a figure typed by hand is not found", result)
    # The same with the scenario changed below the text.
    (folder / "lesson.yaml").write_text(text)
    scenario = (folder / "tiny.yaml").read_text()
    (folder / "tiny.yaml").write_text(scenario.replace("train: {", "train: {optimizer: sgd, "))
    result = expect(place.run("lesson", folder, "--check"), 1)
    check("the text says 16" in result.out, "a lesson outlived its scenario", result)


def test_bad_lessons_say_what_is_wrong():
    cases = {
        "unknown-key": (GOOD_QUESTION, "", ("minutes: 5", "minutes: 5\nteches: [rank]"), "unknown key 'teches'", "did you mean 'teaches'?"),
        "unknown-step": ("  - tekst: Two.\n", "", ("", ""), "unknown kind of step 'tekst'", "did you mean 'text'?"),
        "two-kinds": ("  - text: Two.\n    reveal: Three.\n", "", ("", ""), "a step is a map with one key that is its kind", "known: text, look"),
        "unknown-beside": ("  - text: Two.\n    shwo: {panel: memory, scenario: a}\n", "", ("", ""), "unknown key 'shwo'", "did you mean 'show'?"),
        "unknown-in-show": ("  - text: Two.\n    show: {panel: memory, scenario: a, highligt: activation}\n", "", ("", ""), "unknown key 'highligt'", "did you mean 'highlight'?"),
        "said-in-show": ("  - text: Two.\n    show: {panel: memory, scenario: a, say: This.}\n", "", ("", ""), "unknown key 'say'", ""),
        "no-panel-in-show": ("  - text: Two.\n    show: {panel: memroy, scenario: a}\n", "", ("", ""), "unknown panel 'memroy'", "did you mean 'memory'?"),
        "no-scenario-in-show": ("  - reveal: Two.\n    show: {panel: memory, scenario: b}\n", "", ("", ""), "the lesson has no scenario 'b'", "its scenarios: a"),
        "no-instruction-in-show": ("  - text: Two.\n    show: {panel: memory, scenario: a, instruction: Forward s99}\n", "", ("", ""), "the plan has no instruction 'Forward s99'", ""),
        "show-of-a-try": ("  - try: {scenario: a, set: {train.micro_batch: 1}, say: Try.}\n    show: {panel: memory, scenario: a}\n", "", ("", ""), "a try shows its own scenario", "show stands beside text, ask and reveal"),
        "show-of-another": ("  - ask: {question: Which one, instruction: 'instruction(a, \"AllGather\", 1)', scenario: a, wrong: [{instruction: 'instruction(a, \"AllGather\", -1)', thought: Wrong., source: 'nowhere, https://example.org'}]}\n    show: {panel: plan, scenario: b}\n", ", b: tiny.yaml", ("", ""), "the question is about a, but another scenario is shown", "show a"),
        "broken-expression": (GOOD_QUESTION, "", ("> 1 KiB", "> > 1 KiB"), "'>' at column 21 was not expected", ""),
        "unknown-function": (GOOD_QUESTION, "", ("peak_allocated(a) > 1", "peak_alocated(a) > 1"), "unknown function 'peak_alocated'", "did you mean 'peak_allocated'?"),
        "unknown-name": (GOOD_QUESTION, "", ("peak_allocated(a) > 1", "peak_allocated(b) > 1"), "the lesson has no 'b'", ""),
        "no-right-answer": (GOOD_QUESTION, "", ("> 1 KiB", "> 1 TiB"), "the question has no right answer", ""),
        "two-right-answers": (GOOD_QUESTION, "", ("< 1 KiB", "< 1 TiB"), "has the thought of a wrong answer", ""),
        "no-answers": ("  - ask: {question: Which one}\n", "", ("", ""), "the question has no right answer", "choose, order"),
        "constant-answer": (GOOD_QUESTION, "", ("peak_allocated(a) > 1 KiB", "2 > 1"), "'2 > 1' asks nothing of a scenario", ""),
        "no-source": (GOOD_QUESTION, "", ("          source: nowhere, https://example.org\n", ""), "a wrong answer needs a source", ""),
        "no-scenario": (GOOD_QUESTION, ", b: gone.yaml", ("", ""), "gone.yaml", ""),
        "outside": (GOOD_QUESTION, ", b: ../gone.yaml", ("", ""), "lies outside of the lesson's folder", ""),
        "bad-scenario": (GOOD_QUESTION, ", b: {file: tiny.yaml, set: {train.micro_btach: 1}}", ("", ""), "micro_btach", "did you mean 'micro_batch'?"),
        "no-picture": ("  - look: {panel: memory, scenario: a, instruction: Forward s99}\n", "", ("", ""), "the plan has no instruction 'Forward s99'", ""),
        "no-run": ("  - run: {scenario: a, say: Now., holds: [peak_allocatd(run(a)) > 1 B]}\n", "", ("", ""), "unknown function 'peak_allocatd'", ""),
    }
    place = Place()
    for name, (steps, scenarios, replace, message, hint) in cases.items():
        folder = write_lesson(place, name, steps, scenarios, replace)
        result = expect(place.run("lesson", folder, "--check"), 1)
        problems = [line for line in result.out.splitlines() if message in line]
        check(len(problems) == 1 and re.search(rf"{name} +1 wrong", result.out), f"{name}: not one message with '{message}'", result)
        check(hint in result.out, f"{name}: no hint '{hint}'", result)
        check("lesson.yaml:" in problems[0] or "tiny.yaml" in problems[0] or "gone.yaml" in problems[0], f"{name}: no place", result)
    # A lesson that cannot be opened is one message, and the program ends with what bad input has.
    expect_error(place.run("lesson", place.path / "unknown-key"), 2, "unknown key 'teches'", "did you mean 'teaches'?")
    expect_error(place.run("lesson", place.path), 2, "there is no lesson.yaml in this folder")
    expect_error(place.run("lesson", "accumulatoin"), 2, "there is no lesson 'accumulatoin'")
    expect_error(place.run("lesson", "1"), 2, "the input is no terminal", "--answers")


def test_no_scenario_of_a_comparison_is_cut():
    place = Place()
    names = ["first_of_many", "second_of_many", "third_of_many", "fourth_of_many", "fifth_of_many"]
    scenarios = "".join(f", {name}: tiny.yaml" for name in names)
    look = f"  - look: {{panel: compare, scenario: [{', '.join(names)}], say: Five.}}\n"
    folder = write_lesson(place, "five", look, scenarios)
    answers = place.path / "answers.yaml"
    answers.write_text("[]\n")
    for width in (46, 80):
        result = expect(place.run("lesson", folder, "--answers", answers, env=place.environment(COLUMNS=str(width))), 0)
        check(max(len(line) for line in result.out.splitlines() if "MiB" in line) <= width, f"lines are longer than {width}", result)
        for name in names:
            check(name in result.out, f"{name} is not there with {width} columns", result)
        check(result.out.count("peak of live tensors") > 1, "the figures do not go on below", result)


def right_answers(place, lesson):
    """Of its questions in their order: (a wrong one or None, the right one)."""
    answers = []
    for step in expect(place.run("lesson", lesson, "--json"), 0).json()["steps"]:
        if step["kind"] == "ask":
            wrong = [each["answer"] for each in step["wrong_answers"]]
            answers.append((wrong[0] if wrong else None, step["right_answer"]))
    return answers


PROMPTS = ["[Enter] ", "[Enter ends] ", "(? tells): ", "[y/N] ", "(Enter goes on): "]


def walk(terminal, answers, wrongly=False):
    """Answers every prompt to the end of the lesson."""
    questions, tried = iter(answers), None
    while True:
        text, prompt = terminal.until(PROMPTS)
        if prompt is None:
            return
        if prompt == "(? tells): ":
            if tried is not None:
                check("Not so." in text, f"a wrong answer is not told:\n{text}")
                check("(seen in " in text, f"its source is not told:\n{text}")
                terminal.type(tried)
                tried = None
                continue
            wrong, right = next(questions, (None, None))
            check(right is not None, f"a right answer is not taken:\n{terminal.text[-1500:]}")
            if wrongly and wrong:
                tried = right
                terminal.type(wrong)
            else:
                terminal.type(right)
        else:
            terminal.type("n" if prompt == "[y/N] " else "")


def in_terminal(place, *arguments):
    return Terminal([PROGRAM, *map(str, arguments)], place.environment(TERM="xterm", COLUMNS="100"), place.path)


def test_a_learner_walks_through_the_course():
    place = Place()
    for name in lesson_names():
        answers = right_answers(place, name)
        check(answers, f"{name} asks nothing")
        with in_terminal(place, "lesson", name) as terminal:
            walk(terminal, answers)
            check(terminal.code() == 0, f"{name} ended badly:\n{terminal.text[-2000:]}")
            check(f"{len(answers)} of {len(answers)} answered right at the first attempt" in terminal.text,
                  f"{name} does not count all answers as right:\n{terminal.text[-2000:]}")
            check("note: " not in terminal.text and "{{" not in terminal.text, f"{name} shows what it should not:\n{terminal.text}")
    listed = expect(place.run("lesson"), 0).out
    check(listed.count("done, ") == len(lesson_names()), "not every lesson is done", listed)


def test_wrong_answers_are_told_and_progress_is_kept():
    place = Place()
    name = lesson_names()[1]
    answers = right_answers(place, name)
    with in_terminal(place, "lesson", name) as terminal:
        terminal.until(["[Enter] "])
        terminal.type("")
        terminal.until(["[Enter] "])
        terminal.type("q")
        text, _ = terminal.until([])
        check("left at step 2" in text, f"it does not say where it was left: {text}")
    check("at 2 of " in expect(place.run("lesson"), 0).out, "the list does not say where the lesson was left")
    with in_terminal(place, "lesson", name) as terminal:
        walk(terminal, answers, wrongly=True)
        check("you left off here" in terminal.text and "-- 1 of " not in terminal.text, "it does not go on where it was left")
        check(f"0 of {len(answers)} answered right" in terminal.text, f"wrong answers count as right:\n{terminal.text[-500:]}")
    expect(place.run("lesson", "--csv", "answers.csv"), 0)
    rows = list(csv.DictReader((place.path / "answers.csv").open()))
    check([row["right"] for row in rows] == ["no", "yes"] * len(answers), f"the CSV says {rows}")
    expect(place.run("lesson", "--reset"), 0)
    check("done" not in expect(place.run("lesson"), 0).out, "--reset keeps progress")


def test_answers_from_a_file():
    place = Place()
    answers = right_answers(place, "1")
    (place.path / "answers.yaml").write_text("[" + ", ".join(f"'{right}'" for _, right in answers) + "]\n")
    result = expect(place.run("lesson", "1", "--answers", "answers.yaml"), 0)
    check(f"{len(answers)} of {len(answers)} answered right" in result.out, "the answers are not right", result)
    # A question whose answer was told counts as well, at the end and in the list.
    expect(place.run("lesson", "--reset"), 0)
    (place.path / "answers.yaml").write_text(f"['{answers[0][1]}']\n")
    counted = f"1 of {len(answers)}"
    check(f": {counted} answered right" in expect(place.run("lesson", "1", "--answers", "answers.yaml"), 0).out, "at the end")
    check(f"done, {counted} right" in expect(place.run("lesson"), 0).out, "in the list")
    expect_error(place.run("lesson", "1", "--answers", "/dev/null"), 2, "is a device, not a list of answers")
    (place.path / "answers.yaml").write_text("{a: b}\n")
    expect_error(place.run("lesson", "1", "--answers", "answers.yaml"), 2, "expected a list of answers")


def test_a_damaged_progress_table():
    place = Place()
    expect(place.run("lesson", "1", "--answers", answers_file(place)), 0)
    database = sqlite3.connect(place.db)
    database.execute("DROP TABLE lesson_progress")
    database.execute("CREATE TABLE lesson_progress (lesson INTEGER)")
    database.commit()
    database.close()
    result = expect(place.run("lesson"), 0)
    check(result.err.count("note: ") == 1 and "--reset" in result.err, "not one note that says what to do", result)
    check("01" in result.out, "the course is not listed", result)
    result = expect(place.run("lesson", "1", "--answers", answers_file(place)), 0)
    check("is done" in result.out and result.err.count("note: ") == 1, "the lesson does not go on with one note", result)
    expect(place.run("lesson", "--reset"), 0)
    result = expect(place.run("lesson", "1", "--answers", answers_file(place)), 0)
    check(result.err == "", "--reset does not mend the table", result)


def answers_file(place):
    (place.path / "none.yaml").write_text("['?', '?', '?']\n")
    return place.path / "none.yaml"


def test_pages():
    place = Place()
    expect(place.run("lesson", "--html", "course.html"), 0)
    page = (place.path / "course.html").read_text()
    check("{{" not in page and "<svg" in page, "the page has no pictures, or expressions that are not filled in")
    check(not re.search(r'(src|href)="?(?!https?://|#)[^ >"]*\.(js|css|png)', page), "the page needs other files")
    for name in lesson_names():
        title = expect(place.run("lesson", name, "--json"), 0).json()["title"]
        check(title.split(":")[0] in page, f"'{title}' is not on the page")
    expect_error(place.run("lesson", "1", "--html", "nowhere/page.html"), 2, "cannot be written")
    print(f"  the page of the course has {os.path.getsize(place.path / 'course.html') / 1e6:.1f} MB")


def test_the_document_lists_every_function():
    place = Place()
    document = expect(place.run("lesson", "--document"), 0).out
    check(document in (SOURCE / "docs/writing-lessons.md").read_text(), "docs/writing-lessons.md is not what lesson --document prints")


if __name__ == "__main__":
    main(globals())
