"""A file that somebody names is opened by engine/base/input_file: ordinary files alone, never waited for, of a size that is known.

Who opens another kind of file, or writes, stands below with the reason.
"""

import os
import re

OPENS = re.compile(r"std::(?:i?fstream|filebuf)\b|\bfopen\(|\bgzopen\(|(?<![\w>])::open(?:at)?\(")

# (file or folder, what it opens)
MAY_OPEN = [
    ("engine/base/input_file.cpp", "this is the place"),
    ("engine/base/output_file.cpp", "files to be written"),
    ("engine/machine/kernel_file.cpp", "files of /proc and /sys"),
    ("engine/execute/machine.cpp", "files of /proc"),
    ("engine/execute/processor_use.cpp", "a file of /proc"),
    ("simulator/calibrate/calibration.cpp", "a file of /proc"),
    ("engine/execute/spool_write.cpp", "the spool that it writes"),
    ("engine/execute/progress_tail.h", "a spool of its own run, which grows"),
    ("gui/view_model/job.h", "what a child of its own says, which grows"),
    ("engine/execute/meeting/meeting_file.cpp", "a file of this user's alone, and no link"),
    ("engine/execute/swap", "files and folders of a drive, which it makes itself"),
    ("engine/store/database_file.cpp", "the header of an ordinary file, before SQLite opens it"),
    ("simulator/search/result_file.cpp", "what it has read, to add to it"),
]


def may_open(path):
    return any(path == place or path.startswith(place + "/") for place, _ in MAY_OPEN)


def check(root, paths):
    """Violations as lines "file:line: what"."""
    for path in paths:
        if path.startswith("tests/") or may_open(path):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if OPENS.search(line.split("// ")[0]):
                    yield f"{path}:{number}: opens a file: engine/base/input_file.h does, so that it is an ordinary one and bounded"


def check_rows(root):
    """No row of MAY_OPEN is about a file that is no more."""
    for place, _ in MAY_OPEN:
        if not os.path.exists(os.path.join(root, place)):
            yield f"tests/rules/_opening_rules.py:1: a row is about {place}, which is no more"
