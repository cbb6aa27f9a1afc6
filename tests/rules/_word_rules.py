"""No text is compared with a word for which an enumeration has a value (engine/base/words.h), and nothing of a plan is found by its name."""

import os
import re

# Words of an enumeration's table (base/words.h) that mean something else in these files, which read foreign text.
# (path or folder, words)
FOREIGN_WORDS = [
    ("engine/base/parse.cpp", {"true", "false"}),  # booleans
    ("gui/panels/scenario/scenario_form.cpp", {"true", "false"}),  # booleans
    ("engine/scenario/keys/kind.h", {"none"}),  # how a scenario unsets an optional value
    ("engine/plan/parse_text.cpp", {"world", "tensor", "pass", "yes", "plan", "bytes"}),  # keys of a plan's lines, and a flag
    ("engine/execute/spool.cpp", {"error"}),  # a key of a spool
    ("gui/view_model/job_output.cpp", {"error"}),  # an event of a job
    ("engine/store/read_run.cpp", {"last"}),  # a reference to a run
    ("engine/model/families", {"linear", "default"}),  # config.json's rope scaling
    ("gui/view_model/why_metric.cpp", {"step_time", "tokens_per_second"}),  # metrics
    ("engine/execute/torch/probes", {"linear"}),  # operators' names
    ("simulator/calibrate/probe_cases.cpp", {"linear"}),
    ("simulator/backtest", {"yes", "full", "selective", "none"}),  # cells of a published table
    ("engine/lessons", {"or", "run", "order"}),  # words of a lesson's file and of its expressions
    ("engine/cli/lessons", {"yes"}),  # what somebody types
    ("engine/cli/commands/doctor_command.cpp", {"text"}),  # a format of output
    ("gui/session/setting_form.cpp", {"text"}),  # the type of a setting
]

WORD_TABLE = re.compile(r"\bk_words<[\w:]+> *=")
WORD_ROW = re.compile(r'\{[\w:]+::\w+,\s*"([^"]+)"\}')
# A strategy is a name of a registry, not a value of an enumeration.
TEXT_COMPARED = re.compile(r'(?<!strategy )[!=]= *"([^"]+)"|"([^"]+)" *[!=]=')

# Here somebody types the name of a stream: it is looked up for nothing but that.
TYPED_NAMES = ("simulator/lessons/figures_of_time.cpp", "simulator/lessons/find_look.cpp")

# A buffer, a stream or a group of a plan: what it is for is its role, class, layout or dimension.
OF_A_PLAN = r"(?:buffer|stream|group)s?(?:\([^;]*?\)|\[[^;]*?\])?(?:\.|->)name"
NAME_COMPARED = re.compile(
    rf"{OF_A_PLAN}\s*[!=]=|[!=]=\s*[^;&|?]*?{OF_A_PLAN}\b|{OF_A_PLAN}\.(?:starts_with|ends_with|compare|contains)\(")


def product_lines(root, paths):
    """(path, number, line without its comment) of everything but tests."""
    for path in paths:
        if path.startswith("tests/"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                yield path, number, line.split("// ")[0]


def words_of_tables(root, paths):
    """All words of the enumerations that have a table."""
    words = set()
    for path in paths:
        if path.startswith("tests/"):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        if WORD_TABLE.search(text):
            words.update(WORD_ROW.findall(text))
    return words


def check(root, paths):
    """No text is compared with a word for which there is a value of an enumeration, no name of a plan's part with anything."""
    words = words_of_tables(root, paths)
    for path, number, line in product_lines(root, paths):
        foreign = set().union(*(known for place, known in FOREIGN_WORDS if (path == place or path.startswith(place + "/"))))
        for match in TEXT_COMPARED.finditer(line):
            word = match.group(1) or match.group(2)
            if word in words - foreign:
                yield f'{path}:{number}: compares text with "{word}", which is a word of an enumeration (base/words.h)'
        if path not in TYPED_NAMES and NAME_COMPARED.search(line):
            yield f"{path}:{number}: finds a part of a plan by its name: ask for its role, or add one (engine/plan/buffer_words.h, stream_words.h)"


def check_rows(root):
    """No row of FOREIGN_WORDS is about a file that is no more."""
    for place, _ in FOREIGN_WORDS:
        if not os.path.exists(os.path.join(root, place)):
            yield f"tests/rules/_word_rules.py:1: a row is about {place}, which is no file"
