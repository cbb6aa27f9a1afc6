"""`validate` and `calibrate` as every process of torchrun and srun: rank 0 speaks, all end with its code."""

import json
import os

from _launchers import free_port, slurm_rank, srun, torchrun
from _shardlab import Place, check, expect, main, needs_torch

needs_torch()


def runs_of(place):
    return expect(place.run("history", "--json"), 0).json()["runs"]


def nothing_left(place):
    left = [path for path in place.path.rglob("*") if path.relative_to(place.path).parts[0].startswith("shardlab-spool")]
    check(left == [], f"{left}")


def strict(place):
    """A scenario whose prediction of the time cannot be met."""
    text = open(place.scenario(), encoding="utf-8").read()
    return place.scenario("strict", text=text.replace("steps: 3}", "steps: 3, tolerance: {peak_reserved: 1%}}"))


def test_validate_under_torchrun():
    place = Place()
    place.take_calibration()
    done = torchrun(place, 2, "validate", place.scenario(), "--json")
    check(done.returncode in (0, 5), "no verdict", done)
    document = json.loads(done.stdout)  # of rank 0 alone
    check(document["predicted"]["calibrated"] is True and document["machine"]["slowdown_after"]["collectives"] > 0, f"{document['machine']}")
    check("rank 0 of 2, started by torchrun" in done.stderr, "it does not say who started it", done)
    # The other rank's work is not another program's.
    check(document["machine"]["own_processors"] > 0.2, f"{document['machine']}")
    check([run["kind"] for run in runs_of(place)] == ["measured", "predicted"], f"{runs_of(place)}")
    nothing_left(place)


def test_validate_under_srun():
    place = Place()
    job = free_port()
    scenario = strict(place)  # written before a rank reads it
    ranks = [slurm_rank(place, rank, 2, job, "validate", scenario, "--no-calibrate") for rank in range(2)]
    (out, err), (quiet_out, quiet_err) = [rank.communicate(timeout=120) for rank in ranks]
    check([rank.returncode for rank in ranks] == [1, 1], f"both end with the verdict: {[rank.returncode for rank in ranks]} {err}{quiet_err}")
    check("peak_reserved" in out and "1 of 2" not in err, f"{out}{err}")
    check(quiet_out == "" and quiet_err == "", f"rank 1 is quiet: {quiet_out}{quiet_err}")
    check(len(runs_of(place)) == 2, f"{runs_of(place)}")
    nothing_left(place)


def test_one_task_starts_the_ranks_itself():
    place = Place()
    done = srun(place, 1, "validate", place.scenario(), "--no-calibrate")
    check(done.returncode in (0, 5), f"{done}")
    check({run["ranks"] for run in runs_of(place)} == {2}, f"{runs_of(place)}")
    done = srun(place, 1, "run", place.scenario(extra="launch: {launcher: slurm}\n"), "--json")
    check(done.returncode == 0 and json.loads(done.stdout)["run_id"], f"{done}")


def test_calibrate_under_srun():
    place = Place()
    done = srun(place, 2, "calibrate")
    check(done.returncode == 0 and "2 ranks x 1 threads" in done.stdout, f"{done}")
    check(done.stdout.count("calibration ") == 1, f"one of them prints: {done.stdout}")
    predicted = expect(place.run("simulate", place.scenario(), "--json"), 0).json()
    check(predicted["calibrated"] is True, "the calibration is not used")
    nothing_left(place)


def test_mistakes_are_said_once():
    place = Place()
    for arguments, code, words in [(("validate", place.path / "none.yaml"), 2, "none.yaml"),
                                   (("validate", place.scenario(ranks=3), "--no-calibrate"), 2, "started 2 ranks, the scenario has 3"),
                                   (("calibrate", "--ranks", "3"), 2, "started 2 ranks, the scenario has 3")]:
        done = srun(place, 2, *arguments)
        check(done.returncode == code and done.stderr.count("error: ") == 1 and words in done.stderr, f"{done}")
        nothing_left(place)


def test_a_rank_that_never_comes():
    place = Place()
    rank = slurm_rank(place, 0, 2, free_port(), "validate", place.scenario(extra="launch: {timeout: 2s}\n"), "--no-calibrate")
    _, err = rank.communicate(timeout=60)
    check(rank.returncode == 4 and "rank 1 of 2 did not come here within 2 s" in err, f"{rank.returncode} {err}")


def test_what_a_dead_session_left_is_no_harm():
    place = Place()
    job = free_port()
    scenario = place.scenario()
    first = slurm_rank(place, 0, 2, job, "validate", scenario, "--no-calibrate")
    follower = slurm_rank(place, 1, 2, job, "validate", scenario, "--no-calibrate")
    folder = next(place.path.glob("shardlab-spool-*"), None)
    while folder is None or not (folder / "order-1").exists():
        folder = next(place.path.glob("shardlab-spool-*"), None)
    for each in (first, follower):
        each.kill()
        each.communicate()
    scenario = strict(place)
    ranks = [slurm_rank(place, rank, 2, job, "validate", scenario, "--no-calibrate") for rank in (1, 0)]
    outputs = [rank.communicate(timeout=120) for rank in ranks]
    check([rank.returncode for rank in ranks] == [1, 1], f"{outputs}")


main(globals())
