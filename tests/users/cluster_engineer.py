"""Somebody with Slurm and a scenario: does the prediction hold on the node? One batch job that ends with the verdict."""

import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "cli"))
from _launchers import free_port, put_srun  # noqa: E402
from _answers import User, check, main  # noqa: E402
from _shardlab import PROGRAM, SOURCE, needs_torch  # noqa: E402

needs_torch()


def submit(user, *arguments, tasks=2):
    """What sbatch does on the node of one job: the script, with Slurm's variables and no rank's."""
    user.commands += 1
    path = os.pathsep.join([str(put_srun(user.place)), os.path.dirname(PROGRAM), os.environ["PATH"]])
    environment = user.place.environment(PATH=path, SLURM_JOB_ID=str(free_port()), SLURM_NTASKS=str(tasks), SLURM_PROCID="0")
    begin = time.monotonic()
    job = subprocess.run(["bash", SOURCE / "scenarios/slurm/validate.sbatch", *map(str, arguments)], capture_output=True, text=True,
                         timeout=800, env=environment, cwd=user.place.path, check=False)
    user.seconds += time.monotonic() - begin
    return job


def scenario_with(user, name, tolerance):
    text = open(user.place.scenario(), encoding="utf-8").read()
    return user.place.scenario(name, text=text.replace("steps: 3}", f"steps: 3, tolerance: {{{tolerance}}}}}"))


def test_jobs_end_with_their_verdicts():
    user = User()
    job = submit(user, scenario_with(user, "good", "peak_allocated: 1%"))
    check(job.returncode == 0, "memory is as predicted", job)
    check("predicted, not calibrated, 2 ranks" in job.stdout and "peak_allocated" in job.stdout, "prediction and comparison", job)
    check("started by slurm" in job.stderr and "calibrating" in job.stderr, "it says what it does", job)
    stored = user.ask("history", "--json").json()["runs"]
    check([run["kind"] for run in stored] == ["measured", "predicted"], f"{stored}")
    user.done(2)
    # The next job on the same node has the calibration of the first.
    job = submit(user, scenario_with(user, "bad", "peak_reserved: 1%"))
    check(job.returncode == 1 and "fail" in job.stdout, "what no processor has is not met", job)


def test_a_mistake_costs_no_run():
    user = User()
    job = submit(user, user.place.scenario(), "--set", "parallel.strategy=fdsp2")
    check(job.returncode == 2 and "fsdp2" in job.stderr and "started by" not in job.stderr, "the nearest word is named", job)
    job = submit(user, user.place.scenario(), tasks=3)
    check(job.returncode == 2 and "started 3 ranks, the scenario has 2" in job.stderr, "the number of tasks", job)


main(globals())
