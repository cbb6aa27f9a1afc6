"""What a rank is told: the job's file, its mistakes, and jobs of probes, joined and broken."""
# processors: 1

import json
import os
import pathlib
import signal
import socket
import subprocess

from _processes import name_of, ranks_of, wait_until
from _shardlab import PROGRAM, Place, check, check_fields, expect, expect_error, main, needs_torch

needs_torch()

RANK_PROGRAM = pathlib.Path(PROGRAM).parent / "shardlab-rank"


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def rank_of(place, *arguments, **variables):
    """One rank by itself; what it printed on stderr and its exit code."""
    environment = place.environment(**(variables or {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "1"}))
    done = subprocess.run([RANK_PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          text=True, timeout=60, env=environment, cwd=place.path)
    lines = 1 if done.returncode else 0
    check(done.stdout == "" and len(done.stderr.splitlines()) == lines, f"not {lines} line: {done.stdout}{done.stderr}")
    return done.returncode, done.stderr


def check_refused(answer, code, *parts):
    check(answer[0] == code, f"exit code {answer[0]}, not {code}: {answer[1]}")
    for part in (*parts, "("):  # the hint is in parentheses
        check(part in answer[1], f"the message does not contain '{part}': {answer[1]}")


def test_the_job_of_a_run_says_what_it_was_told():
    place = Place()
    spool = place.path / "spool"
    expect(place.run("run", place.scenario(), "--poison", "--keep-spool", spool, "--save-weights", "weights.safetensors"), 0)
    job = json.loads((spool / "job.json").read_text())
    check_fields(job, {"version": "text", "kind": "text", "run_hash": "text", "threads": "int", "environment": "map", "scenario": "text"})
    check(job["kind"] == "train" and job["extras"]["poison"] is True, f"{job}")
    check(job["extras"]["save_weights"] == str(place.path / "weights.safetensors"), f"{job['extras']}")
    check((place.path / "weights.safetensors").exists(), "no weights")


def test_bad_jobs():
    place = Place()
    spool = place.path / "spool"
    expect(place.run("run", place.scenario(ranks=1), "--keep-spool", spool), 0)
    good = json.loads((spool / "job.json").read_text())
    file = place.path / "job.json"

    def answer_to(job):
        file.write_text(job if isinstance(job, str) else json.dumps(job))
        return rank_of(place, "--job", file)

    check(answer_to(good | {"extras": good["extras"] | {"save_weights": str(place.path / "w.safetensors")}})[0] == 0, "a good job")
    check_refused(answer_to("{\"version\": "), 2, str(file), "is not the job of a rank")
    check_refused(answer_to(good | {"version": "0.0.1"}), 4, str(file), "was written by shardlab 0.0.1", "same version")
    check_refused(answer_to({name: value for name, value in good.items() if name != "probes"}), 2, "'probes' is missing")
    check_refused(answer_to(good | {"colour": "red"}), 2, "'colour' is unknown")
    check_refused(answer_to(good | {"threads": "two"}), 2, "'threads' cannot be \"two\"")
    check_refused(answer_to(good | {"run_hash": "abc"}), 4, "the launcher planned abc", "same version")
    file.unlink()
    check_refused(rank_of(place, "--job", file), 2, str(file), "no such file", "not by hand")
    check_refused(rank_of(place, "--job", place.path / "nowhere" / "job.json"), 2, "no such file")


def test_started_by_hand():
    place = Place()
    check_refused(rank_of(place), 2, "needs --job", "not by hand")
    check_refused(rank_of(place, "job.json"), 2, "job.json: unknown option", "not by hand")
    check_refused(rank_of(place, "--job", "job.json", SHARDLAB_NOTHING=""), 2, "RANK", "not by hand")


def test_probes_of_ranks_that_somebody_else_started():
    place = Place()
    port = free_port()
    ranks = [place.start("bench", "pairs", "--json", env=place.environment(RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank),
                                                                           MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)))
             for rank in range(2)]
    outputs = [rank.communicate(timeout=120) for rank in ranks]
    check([rank.returncode for rank in ranks] == [0, 0], f"{outputs}")
    check([pair["ranks"] for pair in json.loads(outputs[0][0])["pairs"]] == [[0, 1]], f"{outputs}")
    check(outputs[1][0] == "", f"the other rank prints: {outputs[1]}")
    result = place.run("bench", "pairs", env=place.environment(RANK="0", WORLD_SIZE="3", MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port)))
    expect_error(result, 2, "3 ranks", "2")


def broken_bench(break_it):
    """A bench in the middle of its measurements to which break_it(process, ranks) happens; what it said."""
    place = Place()
    process = place.start("bench", "products", "--seconds", "60")
    check(wait_until(lambda: len(ranks_of(process.pid)) == 2 and list(place.path.parent.glob("shardlab-run-*/probes-1.jsonl")), 60),
          "no measurement begins")
    ranks = ranks_of(process.pid)
    break_it(process, ranks)
    out, err = process.communicate(timeout=60)
    check(process.returncode == 4 and out == "" and err.startswith("error: "), f"code {process.returncode}: {err}{out}")
    check(wait_until(lambda: not any(name_of(pid) == "shardlab-rank" for pid in ranks), 5), "ranks are left")
    folder = err.split("the ranks' records are in ")[1].split()[0].rstrip(");")
    check((pathlib.Path(folder) / "job.json").exists(), f"the folder that the message names is gone: {err}")
    return err


def test_interrupted_probes():
    err = broken_bench(lambda process, ranks: process.send_signal(signal.SIGINT))
    check("probes: interrupted" in err, err)


def test_killed_probes():
    err = broken_bench(lambda process, ranks: os.kill(ranks[0], signal.SIGKILL))
    check("ended: killed by signal 9" in err and "micro_batch" not in err, err)


main(globals())
