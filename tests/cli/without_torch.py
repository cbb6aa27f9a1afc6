"""A build without libtorch plans and predicts; real runs say what is missing."""

import sys

from _shardlab import SKIP, WITH_TORCH, Place, check, expect, expect_error, main

if WITH_TORCH:
    print("skipped: built with libtorch")
    sys.exit(SKIP)


def test_predictions_work():
    place = Place()
    expect(place.run("simulate", place.scenario()), 0)


def test_real_runs_say_what_is_missing():
    place = Place()
    for command in (["run", place.scenario()], ["calibrate"]):
        expect_error(place.run(*command, timeout=60), 3, "libtorch")
    result = place.run("validate", place.scenario(), timeout=60)  # says first that it is about to calibrate
    check(result.code == 3 and "\nerror: " in result.err and "libtorch" in result.err, "validate", result)


main(globals())
