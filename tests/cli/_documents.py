"""Commands in the documents with what they are said to print, and what they print today.

A block is "    $ shardlab ...", further lines that begin with four spaces, until an empty line that no indented one follows, or the next
command. "..." stands for lines that are left out. "$ cat FILE" shows a file that later commands of the document may name.
"""

import dataclasses
import re

COMMAND = re.compile(r"^    \$ (.*)$")


@dataclasses.dataclass
class Block:
    document: str
    line: int  # of the command, from 0
    command: str
    first: int  # of the lines below it
    printed: list


def blocks_of(document, text):
    lines = text.splitlines()
    blocks, at = [], 0
    while at < len(lines):
        begin = COMMAND.match(lines[at])
        if not begin:
            at += 1
            continue
        line, command = at, begin[1]
        at += 1
        while command.endswith("\\"):
            command = command[:-1] + lines[at].strip()
            at += 1
        first = at
        while at < len(lines) and not COMMAND.match(lines[at]) and (lines[at].startswith("    ") or goes_on(lines, at)):
            at += 1
        blocks.append(Block(document, line, command, first, [each[4:].rstrip() for each in lines[first:at]]))
    return blocks


def goes_on(lines, at):
    """An empty line within what is printed."""
    return lines[at] == "" and at + 1 < len(lines) and lines[at + 1].startswith("    ") and not COMMAND.match(lines[at + 1])


def is_left_out(line):
    return line.strip() == "..."


def stale_lines(block, output):
    """Places of the block's lines that the output lacks at their place in order."""
    stale, at = [], 0
    for place, line in enumerate(block.printed):
        if is_left_out(line) or not line:
            continue
        if line in output[at:]:
            at = output.index(line, at) + 1
        else:
            stale.append(place)
    return stale


def label_of(line):
    """What a line is about: all before its first figure."""
    return re.split(r"\d", line, maxsplit=1)[0].rstrip()


def runs_of(printed):
    """(first, end) of the runs of lines that "..." separates."""
    runs, first = [], 0
    for place in range(len(printed) + 1):
        if place == len(printed) or is_left_out(printed[place]):
            if place > first:
                runs.append((first, place))
            first = place + 1
    return runs


def likeness(old, new):
    return sum(label_of(a) == label_of(b) for a, b in zip(old, new))


def renewed(printed, output):
    """The block's lines with today's figures, and those that the output has nothing like. A run of lines stays as long as it was, and becomes
    the lines of the output that are about the same; without any "..." the whole output is shown."""
    if not any(is_left_out(line) for line in printed):
        return output, []
    lines, lost, at = list(printed), [], 0
    for first, end in runs_of(printed):
        old = printed[first:end]
        places = range(at, len(output) - len(old) + 1)
        best = max(places, key=lambda place: (output[place:place + len(old)] == old, likeness(old, output[place:place + len(old)]), -place),
                   default=None)
        if best is None or 2 * likeness(old, output[best:best + len(old)]) < len(old):
            lost += old
            continue
        lines[first:end] = output[best:best + len(old)]
        at = best + len(old)
    return lines, lost
