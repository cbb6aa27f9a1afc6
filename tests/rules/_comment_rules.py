"""A comment is a sentence with a subject: none begins with "Of ...", which leaves a reader to guess of what it speaks."""

import os
import re

FRAGMENT = re.compile(r"//+ *Of ")


def check(root, paths):
    """Violations of the sources' comments, those at the end of a line included."""
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if FRAGMENT.search(line):
                    yield f'{path}:{number}: a comment begins with "Of": say what the thing is'
