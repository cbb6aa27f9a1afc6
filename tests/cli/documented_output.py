"""What the documents show of the program's output is what it prints.

`documented_output.py --update` writes today's figures into the documents, line by line, and names the lines that it cannot.
"""

import os
import re
import shlex
import subprocess
import sys

import _documents
import _shardlab
from _shardlab import SOURCE, Place, check, main, needs_torch

needs_torch()  # to run once: without it the program prints the same

# These predict, and print the same on every machine. Others measure, ask, or open a window.
PREDICTING = ("backtest", "diff", "doctor", "explain", "export", "import", "plan", "search", "simulate")


def documents():
    return [SOURCE / "README.md", *sorted((SOURCE / "docs").glob("*.md"))]


def place_of_documents():
    """A folder like the project's, in which what a document's commands write lies."""
    place = Place()
    for name in ("scenarios", "assets", "docs"):
        (place.path / name).symlink_to(SOURCE / name)
    (place.path / "tests").mkdir()
    (place.path / "tests/data").symlink_to(SOURCE / "tests/data")
    return place


def files_in(command):
    """Words of a command that look like files to read."""
    words = shlex.split(command.split(">")[0])[2:]
    not_read = {words[i + 1] for i, word in enumerate(words[:-1]) if word in ("-o", "--output", "--to", "--set", "--csv", "--html")}
    return [word for word in words if re.search(r"\.(ya?ml|json|gz|log|csv|pickle)$", word) and word not in not_read and "=" not in word]


def can_run(place, command):
    name = command.split()[1]
    return name in PREDICTING and not re.search(r"\br\d+\b|\blast\b", command) and all((place.path / f).exists() for f in files_in(command))


def output_of(place, command):
    environment = place.environment(PATH=f"{os.path.dirname(_shardlab.PROGRAM)}:{os.environ['PATH']}")
    done = subprocess.run(command, shell=True, cwd=place.path, env=environment, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    return [line.rstrip() for line in done.stdout.splitlines()]


def checked_blocks(document):
    """(block, its lines that are not printed today, what is) of the commands that can be run here; and how many cannot."""
    place, checked, others = place_of_documents(), [], 0
    for block in _documents.blocks_of(document.name, document.read_text()):
        if block.command.startswith("cat ") and re.fullmatch(r"cat \S+", block.command):
            (place.path / block.command.split()[1]).write_text("\n".join(block.printed) + "\n")
        elif block.command.startswith("shardlab ") and can_run(place, block.command):
            output = output_of(place, block.command)
            checked.append((block, _documents.stale_lines(block, output), output))
        else:
            others += block.command.startswith("shardlab ")
    return checked, others


def test_documents_show_what_is_printed():
    blocks, others, stale = 0, 0, []
    for document in documents():
        checked, more = checked_blocks(document)
        blocks, others = blocks + len(checked), others + more
        for block, places, _ in checked:
            stale += [f"{block.document}:{block.first + place + 1}: {block.printed[place]}" for place in places]
    print(f"        {blocks} commands print what the documents say, {others} need what is not here")
    check(blocks > 30, f"only {blocks} commands were found")
    check(not stale, "no longer printed (documented_output.py --update mends most):\n" + "\n".join(stale))


def update():
    for document in documents():
        lines = document.read_text().splitlines()
        for block, places, output in reversed(checked_blocks(document)[0]):
            if not places:
                continue
            printed, lost = _documents.renewed(block.printed, output)
            lines[block.first:block.first + len(block.printed)] = [f"    {line}".rstrip() for line in printed]
            print(f"{document.name}:{block.line + 1}: {block.command}")
            for line in lost:
                print(f"    by hand: {line}")
        document.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if "--update" in sys.argv:
        update()
    else:
        main(globals())
