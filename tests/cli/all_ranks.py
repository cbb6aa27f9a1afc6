"""`simulate --ranks all` and `show --ranks`: every rank at its own speed, and whom the others wait for."""
# processors: 1

from _shardlab import SOURCE, WITH_TORCH, Place, check, check_fields, expect, expect_error, main

LARGE = SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"
WAIT_FIELDS = {"rank": "int", "step_time_ns": "int", "computes_ns": "int", "waits_ns": "int", "collectives": "number",
               "last": "number", "held_up_ns": "int"}


def test_ranks_differ_by_the_seed():
    place = Place()
    all_ranks = lambda *options: expect(place.run("simulate", LARGE, "--ranks", "all", "--json", *options), 0).json()
    first, again, other = all_ranks(), all_ranks(), all_ranks("--seed", "1")
    check(first["rank_waits"] == again["rank_waits"], "the same seed gives another answer")
    check(first["rank_waits"] != other["rank_waits"], "the seed changes nothing")
    check(len(first["rank_waits"]) == 8, f"{first['rank_waits']}")
    for rank in first["rank_waits"]:
        check_fields(rank, WAIT_FIELDS, "rank_waits")
    check(first["alike_step_time_ns"] < first["step_time_ns"]["median"], f"{first['alike_step_time_ns']}")
    check(any("seed 0" in line for line in first["assumes"]), f"{first['assumes']}")
    stored = expect(place.run("show", "last", "--ranks", "--json"), 0).json()
    check(stored["rank_waits"] == other["rank_waits"], "show says another than simulate")


def test_ranks_without_a_spread_are_alike():
    place = Place()
    none = [option for name in ("gpus", "kernels", "collectives", "hosts") for option in ("--spread", f"{name}=0")]
    alike = expect(place.run("simulate", LARGE, "--json", *none), 0).json()
    check(alike["alike_step_time_ns"] == alike["step_time_ns"]["median"], f"{alike['step_time_ns']}")
    check(all(rank["waits_ns"] == 0 and rank["last"] == 0 for rank in alike["rank_waits"]), f"{alike['rank_waits']}")


def test_a_slow_rank_is_named():
    place = Place()
    done = expect(place.run("simulate", LARGE, "--slow", "5=80%"), 0)
    rows = [line.split() for line in done.out.splitlines() if line.startswith("rank ")]
    check(len(rows) == 8 and rows[0][1] == "5", f"{rows}", done)
    check("with ranks all alike" in done.out and "rank 5 at 80 %" in done.out, "not said", done)
    slow = expect(place.run("simulate", LARGE, "--slow", "5=80%", "--json"), 0).json()
    ratio = slow["step_time_ns"]["median"] / slow["alike_step_time_ns"]
    check(1.15 < ratio < 1.4, f"a step at 80 % takes {ratio} times as long")


def test_measured_ranks():
    if not WITH_TORCH:
        return
    place = Place()
    expect(place.run("run", place.scenario(), "--json", timeout=300), 0)
    ranks = expect(place.run("show", "last", "--ranks", "--json"), 0).json()["rank_waits"]
    check(len(ranks) == 2 and all(rank["collectives"] > 0 and rank["computes_ns"] > 0 for rank in ranks), f"{ranks}")
    check(ranks[0]["waits_ns"] + ranks[1]["waits_ns"] > 0, f"two processes that never wait for each other: {ranks}")
    check(abs(ranks[0]["waits_ns"] - ranks[1]["held_up_ns"]) <= 1, f"of two, one waits as long as the other holds up: {ranks}")


def test_mistakes():
    place = Place()
    expect_error(place.run("simulate", LARGE, "--slow", "8=80%"), 2, "--slow", "ranks are 0 to 7")
    expect_error(place.run("simulate", LARGE, "--spread", "gpu=1%"), 2, "--spread", "did you mean 'gpus'?")
    expect_error(place.run("simulate", LARGE, "--ranks", "one", "--seed", "3"), 2, "--ranks", "--ranks all")
    expect_error(place.run("simulate", LARGE, "--ranks", "some"), 2, "--ranks")
    expect_error(place.run("simulate", place.scenario(ranks=1), "--ranks", "all"), 2, "--ranks", "one rank")
    expect(place.run("simulate", LARGE), 0)
    expect_error(place.run("show", "last", "--ranks"), 2, "--ranks", "simulate --ranks all")


main(globals())
