"""What a Dockerfile or an Apptainer definition does, as one list of steps for both, so that they can be tried without either program.

    image_steps.py FILE      prints a step a line, its words separated by tabs:
        stage NAME            a new root, made of the base image
        copy STAGE FROM TO    STAGE is "-" for the source tree; FROM and TO as written, without a leading or trailing /
        run COMMAND           in the root, as root
        env NAME VALUE        for what follows, and for who uses the image
        entry COMMAND         what the image runs

Knows the instructions that our two files use; any other is an error.
"""

import pathlib
import re
import shlex
import sys


def logical_lines(text):
    """Lines without comments and empty ones; a backslash at the end joins the next."""
    text = re.sub(r"\\\n\s*", "", text)
    return [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]


def place(path):
    return path.strip("/") or "."


def docker_steps(text):
    stages = 0
    for line in logical_lines(text):
        word, _, rest = line.partition(" ")
        rest = rest.strip()
        if word == "FROM":
            named = re.fullmatch(r"\S+ AS (\S+)", rest)
            stages += 1
            yield ["stage", named.group(1) if named else f"stage{stages}"]
        elif word == "COPY":
            match = re.fullmatch(r"(?:--from=(\S+) )?(\S+) (\S+)", rest)
            yield ["copy", match.group(1) or "-", place(match.group(2)), place(match.group(3))]
        elif word == "RUN":
            yield ["run", rest]
        elif word == "ENV":
            yield from (["env", *setting.split("=", 1)] for setting in shlex.split(rest))
        elif word == "ENTRYPOINT":
            yield ["entry", " ".join(re.findall(r'"([^"]*)"', rest))]
        elif word not in ("ARG", "WORKDIR", "CMD"):
            raise ValueError(f"unknown instruction: {line}")


def apptainer_steps(text):
    section, source, pending = "", "-", []
    for line in logical_lines(text):
        header = re.fullmatch(r"(Bootstrap|From|Stage): (\S+)", line)
        title = re.fullmatch(r"%(files|post|environment|runscript)(?: from (\S+))?", line.strip())
        words = line.split()
        if header:
            if header.group(1) == "Stage":
                yield from pending
                pending = []
                yield ["stage", header.group(2)]
        elif title:
            section, source = title.group(1), title.group(2) or "-"
        elif section == "files":
            yield ["copy", source, place(words[0]), place(words[1])]
        elif section == "post":
            yield ["run", line.strip()]
        elif section == "environment":  # Apptainer writes it after all else
            name, _, value = line.strip().removeprefix("export ").partition("=")
            pending.append(["env", name, value])
        elif section == "runscript":
            pending.append(["entry", line.strip().removeprefix("exec ").removesuffix(' "$@"')])
        else:
            raise ValueError(f"unknown line: {line}")
    yield from pending


def steps_of(file):
    text = pathlib.Path(file).read_text()
    return list(apptainer_steps(text) if str(file).endswith(".def") else docker_steps(text))


if __name__ == "__main__":
    for step in steps_of(sys.argv[1]):
        print("\t".join(step))
