"""`run` as one rank of many, started by somebody else: torchrun's variables set by hand."""

import socket
import subprocess

from _shardlab import Place, check, check_run, expect, expect_error, main, needs_torch

needs_torch()


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def start_rank(place, rank, port, *arguments, world=2):
    return place.start("run", *arguments, env=place.environment(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank),
                                                                 MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)))


def test_two_ranks_meet():
    place = Place()
    scenario = place.scenario()
    port = free_port()
    ranks = [start_rank(place, rank, port, scenario, "--json") for rank in range(2)]
    outputs = [rank.communicate(timeout=120) for rank in ranks]
    check([rank.returncode for rank in ranks] == [0, 0], f"{outputs}")
    runs = expect(place.run("history", "--json"), 0).json()["runs"]
    check(len(runs) == 1 and runs[0]["ranks"] == 2, f"one run with two ranks: {runs}")
    joined = expect(place.run("show", "last", "--json"), 0).json()
    check_run(joined, "measured")
    alone = expect(place.run("run", scenario, "--json"), 0).json()
    check(all(abs(a - b) <= 1e-5 * abs(a) for a, b in zip(joined["losses"], alone["losses"])), f"{joined['losses']}\n{alone['losses']}")


def test_a_world_of_another_size():
    place = Place()
    result = place.run("run", place.scenario(), timeout=60, env=place.environment(
        RANK="0", WORLD_SIZE="3", LOCAL_RANK="0", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port())))
    expect_error(result, 2, "3 ranks", "2")


def test_incomplete_variables():
    place = Place()
    expect_error(place.run("run", place.scenario(), timeout=60, env=place.environment(RANK="0")), 2, "WORLD_SIZE")
    expect_error(place.run("run", place.scenario(), timeout=60, env=place.environment(RANK="x", WORLD_SIZE="2")), 2, "RANK")


def test_a_rank_that_never_comes():
    place = Place()
    process = start_rank(place, 0, free_port(), place.scenario(extra="launch: {timeout: 3s}\n"))
    try:
        _, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        raise
    check(process.returncode == 4 and err.startswith("error: ") and "1" in err, f"code {process.returncode}: {err}")


main(globals())
