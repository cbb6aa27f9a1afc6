"""The table of published runs: rows become scenarios, or are named with the reason."""

import os
import pathlib
import subprocess
import sys

from _answers import check, main

SOURCE = pathlib.Path(os.environ["SHARDLAB_SOURCE"])


def table(*options):
    done = subprocess.run([sys.executable, SOURCE / "scripts/published_runs.py", "--program", os.environ["SHARDLAB"], *options],
                          capture_output=True, text=True, timeout=300)
    check(done.returncode == 0, "the script failed", done.stderr)
    return done.stdout


def test_rows_are_predicted_twice():
    text = table("--limit", "6")
    line = next(line for line in text.splitlines() if line.startswith("all"))
    check(line.split()[1] == "6" and line.count("%") == 4, line)
    check("not expressible" not in text, text)


main(globals())
