"""Dockerfile and shardlab.def do the same, with files that exist. Their steps are tried by tests/fresh/packages.sh, by hand."""

import pathlib
import sys
import tempfile

from _hidden import make
from _shardlab import SOURCE, check, main

sys.path.insert(0, str(SOURCE / "tests/fresh"))
from image_steps import steps_of  # noqa: E402

DOCKER, APPTAINER = steps_of(SOURCE / "Dockerfile"), steps_of(SOURCE / "shardlab.def")


def scripts_run(steps):
    """The arguments of image.sh, stage by stage."""
    return [step[1].split("image.sh ")[1].split()[0] if step[0] == "run" else "stage"
            for step in steps if step[0] == "stage" or "image.sh" in step[1]]


def test_both_run_the_same_steps():
    check(scripts_run(DOCKER) == ["stage", "packages", "torch", "install", "stage", "runtime"], f"{scripts_run(DOCKER)}")
    check(scripts_run(APPTAINER) == scripts_run(DOCKER), f"{scripts_run(APPTAINER)}")


def test_what_they_copy_exists():
    for steps in (DOCKER, APPTAINER):
        stages, places = set(), {"opt/shardlab"}  # which image.sh makes
        for step in steps:
            if step[0] == "stage":
                stages.add(step[1])
            if step[0] == "copy":
                origin = step[2] in places and step[1] in stages if step[1] != "-" else (SOURCE / step[2]).exists()
                check(origin, f"nothing to copy: {step}")


def test_both_start_the_program_with_its_folder_on_the_path():
    for steps in (DOCKER, APPTAINER):
        check(["entry", "shardlab"] in steps, "the image does not run shardlab")
        check(any(s[:2] == ["env", "PATH"] and s[2].startswith("/opt/shardlab/bin:") for s in steps), "PATH")


def test_both_start_from_the_same_images():
    docker, apptainer = (SOURCE / "Dockerfile").read_text(), (SOURCE / "shardlab.def").read_text()
    for image in [line.split("=")[1] for line in docker.splitlines() if line.startswith("ARG ")]:
        check(f"From: {image}\n" in apptainer, f"shardlab.def does not start from {image}")


def test_the_scripts_are_shell():
    for script in ("scripts/image.sh", "tests/fresh/packages.sh", "tests/fresh/bare.sh"):
        make("bash", "-n", SOURCE / script)


def test_an_instruction_that_the_trial_does_not_know_is_refused():
    with tempfile.TemporaryDirectory(prefix="shardlab-image-") as folder:
        file = pathlib.Path(folder) / "Dockerfile"
        file.write_text("FROM a\nADD b c\n")
        try:
            steps_of(file)
        except ValueError:
            return
    raise AssertionError("ADD was passed over")


main(globals())
