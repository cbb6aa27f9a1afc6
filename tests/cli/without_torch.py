"""A build without libtorch plans and predicts; real runs say what is missing."""

import sys

from _shardlab import SKIP, WITH_TORCH, Place, check, expect, main

if WITH_TORCH:
    print("skipped: built with libtorch")
    sys.exit(SKIP)


def test_predictions_work():
    place = Place()
    expect(place.run("simulate", place.scenario()), 0)


def test_real_runs_say_what_is_missing():
    place = Place()
    for command in (["run", place.scenario()], ["validate", place.scenario()], ["calibrate"]):
        result = place.run(*command, timeout=60)  # some say first what they are about to do
        error = [line for line in result.err.splitlines() if line.startswith("error: ")]
        check(result.code == 3 and len(error) == 1 and "libtorch" in error[0], f"{command[0]}", result)



main(globals())
