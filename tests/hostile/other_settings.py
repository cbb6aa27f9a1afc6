"""Ranks that are started by hand, each with a scenario of its own: what plans the same and trains something else is no run."""
# processors: 2

import time

from _watched import Place, check

from _launchers import free_port
from _shardlab import expect, main, needs_torch

needs_torch()


def ended(place, *settings):
    """A `run` a list of settings, as the ranks of one run that somebody starts by hand; their codes and what they said."""
    scenario, port = place.scenario(ranks=len(settings)), free_port()
    ranks = [place.start("run", scenario, *(f"--set={each}" for each in own),
                         env=place.environment(RANK=str(rank), WORLD_SIZE=str(len(settings)), LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                                               MASTER_PORT=str(port)))
             for rank, own in enumerate(settings)]
    said = [rank.communicate(timeout=120) for rank in ranks]
    return [rank.returncode for rank in ranks], [out + err for out, err in said]


def stored(place):
    if not place.db.exists():
        return []
    return expect(place.run("history", "--json"), 0).json()["runs"]


def test_other_settings_are_no_run():
    for own, words in ((["train.learning_rate=0.5"], "train.learning_rate is 0.5, not the default"),
                       (["train.seed=9", "train.clip_norm=2"], "train.clip_norm is 2, not 1; train.seed is 9, not the default"),
                       (["measure.steps=5"], "measure.steps is 5, not 3")):
        place = Place()
        begin = time.monotonic()
        codes, said = ended(place, [], own)
        check(codes == [4, 4], f"{codes}: {said}")
        for rank, text in enumerate(said):
            check(f"rank {rank} failed in the meeting: rank 1 has other settings than rank 0: {words}" in text, text)
            check("start all ranks with the same scenario" in text, text)
        check(stored(place) == [], "it is stored all the same")
        check(time.monotonic() - begin < 60, f"{time.monotonic() - begin} s")


def test_the_rank_that_differs_is_named():
    place = Place()
    codes, said = ended(place, ["train.learning_rate=0.5"], ["train.learning_rate=0.5"], [])
    check(codes == [4, 4, 4], f"{codes}: {said}")
    check(all("rank 2 has other settings than rank 0: train.learning_rate is the default, not 0.5" in text for text in said), f"{said}")


def test_what_may_differ_may():
    place = Place()
    codes, said = ended(place, ["name=a", "launch.timeout=60s"], ["name=b", "launch.timeout=90s", "measure.tolerance={step_time: 90%}"])
    check(codes == [0, 0], f"{codes}: {said}")
    check([run["name"] for run in stored(place)] == ["a"], f"{stored(place)}")


main(globals())
