"""A GPU trains what a processor trains; its memory goes back to where it was after every step; out of memory is a result.

Several ranks share one GPU where NCCL allows it (2.30 or newer, NCCL_MULTI_RANK_GPU_ENABLE=1, SHARDLAB_NCCL_LIBRARY); else one rank.
"""
import json
import math
import os
import pathlib
import sqlite3
import subprocess

from _gpu import REHEARSE, SMALL, Folder, cluster, device_memory, gpus, main, need_gpu, scenario, shardlab, write

DEVICE = need_gpu()
SHARED = os.environ.get("NCCL_MULTI_RANK_GPU_ENABLE") == "1"
GIVEN = [int(count) for count in os.environ.get("SHARDLAB_RANKS", "").split(",") if count]
RANKS = GIVEN or ([1, 2] if REHEARSE else [1, 2, 4] if SHARED else [count for count in (1, 2, 4) if count <= len(gpus())])
# Losses of processors that were computed before, where the machine's minutes are dear: {name: losses and norms}.
REFERENCES = os.environ.get("SHARDLAB_REFERENCES")
STRATEGIES = {"none": {"strategy": "none"}, "ddp": {"strategy": "ddp"}, "fsdp1": {"strategy": "fsdp1"},
              "fsdp1 shard_grad_op": {"strategy": "fsdp1", "sharding": "shard_grad_op"}, "fsdp2": {"strategy": "fsdp2"},
              "fsdp2 not resharded": {"strategy": "fsdp2", "reshard_after_forward": False}, "native": {"strategy": "native"}}
WANTED = [name for name in os.environ.get("SHARDLAB_STRATEGIES", "").split(",") if name] or list(STRATEGIES)
FLOAT32 = {}
BFLOAT16 = {"precision": {"param": "bfloat16", "reduce": "float32"}}


def losses(folder, on_gpu, parallel, ranks, more):
    content = scenario(folder, SMALL, parallel=parallel, train={"clip_norm": 1.0}, **more)
    content["cluster"] = cluster(ranks) if on_gpu else {"device": "cpu", "ranks": ranks, "threads_per_rank": 1}
    run = shardlab("run", write(folder, "equal", content), "--db", folder / "runs.db")
    return run["losses"] + run["gradient_norms"]


def reference(folder, name, parallel, ranks, more):
    """What processors train, from the file of references or now; with SHARDLAB_WRITE_REFERENCES=1 it goes into the file."""
    key = json.dumps([name, ranks, more], sort_keys=True)
    known = json.loads(pathlib.Path(REFERENCES).read_text()) if REFERENCES and os.path.exists(REFERENCES) else {}
    if key not in known:
        known[key] = losses(folder, False, parallel, ranks, more)
        if REFERENCES and os.environ.get("SHARDLAB_WRITE_REFERENCES") == "1":
            pathlib.Path(REFERENCES).write_text(json.dumps(known, indent=1))
    return known[key]


def cases(without=()):
    for name in WANTED:
        for ranks in RANKS:
            alone = ranks == 1 and name in ("none", "fsdp2", "native")
            if name not in without and (alone or ranks > 1 and name != "none"):
                yield name, STRATEGIES[name], ranks


def compare(more, limit, without=()):
    failures = []
    with Folder() as folder:
        for name, parallel, ranks in cases(without):
            other = reference(folder, name, parallel, ranks, more)
            if os.environ.get("SHARDLAB_WRITE_REFERENCES") == "1":
                continue
            try:
                mine = losses(folder, True, parallel, ranks, more)
            except Exception as error:  # the others are compared all the same
                failures.append(f"{name}, {ranks} ranks: {error}")
                continue
            worst = max(abs(a - b) / abs(b) for a, b in zip(mine, other))
            print(f"        {name:<22} {ranks} ranks: losses and norms within {worst:.1e}", flush=True)
            if len(mine) != len(other) or not worst < limit:
                failures.append(f"{name}, {ranks} ranks: {mine} and {other}")
    assert not failures, "\n".join(failures)


def test_begins():
    """The least: a few steps of one strategy, on all ranks asked for."""
    with Folder() as folder:
        for ranks in RANKS:
            content = scenario(folder, SMALL, parallel={"strategy": "fsdp2"}, measure={"warmup_steps": 1, "steps": 2})
            content["cluster"] = cluster(ranks)
            run = shardlab("run", write(folder, "begins", content), "--db", folder / "runs.db")
            print(f"        {ranks} ranks: losses {run['losses']}", flush=True)
            assert run["losses"][-1] < run["losses"][0], run["losses"]


def test_float32_trains_as_on_a_processor():
    compare(FLOAT32, 2e-4)


def test_bfloat16_trains_as_on_a_processor():
    compare(BFLOAT16, 3e-2, without=("none", "ddp"))  # which have no mixed precision


def test_checkpointing_and_accumulation():
    with Folder() as folder:
        for more in ({"activation": {"checkpoint": "full"}}, {"train": {"accumulation": 2}}):
            plain = shardlab("run", write(folder, "a", scenario(folder, SMALL, **more)), "--db", folder / "runs.db")
            content = scenario(folder, SMALL, **more)
            content["cluster"] = {"device": "cpu", "ranks": 1}
            other = shardlab("run", write(folder, "b", content), "--db", folder / "runs.db")
            worst = max(abs(a - b) / abs(b) for a, b in zip(plain["losses"], other["losses"]))
            assert worst < 2e-4, f"{more}: {plain['losses']} {other['losses']}"


def switched(option, *values):
    """The same training with and without a test switch: the losses are equal to the last bit, or, where two runs without it already differ
    (attention's backward adds in no fixed order on GPUs), as near as those. What a missing wait or freed memory gives is far from both."""
    with Folder() as folder:
        for strategy in ("native", "fsdp2"):
            for ranks in RANKS:
                content = scenario(folder, SMALL, parallel={"strategy": strategy}, train={"clip_norm": 1.0}, **BFLOAT16)
                content["cluster"] = cluster(ranks)
                file = write(folder, strategy, content)
                losses = [shardlab("run", file, "--db", folder / "runs.db", *more)["losses"]
                          for more in [(), (), *((option, *value) for value in values)]]
                apart = lambda run: max(abs(a - b) if math.isfinite(a) else math.inf for a, b in zip(run, losses[0]))
                spread, most = apart(losses[1]), max(apart(run) for run in losses[2:])
                assert most <= 4 * spread, f"{strategy}: {most} apart, two plain runs {spread}: {losses}"
                print(f"        {strategy}, {ranks} ranks: {most} apart, two plain runs {spread}", flush=True)


def test_poison_changes_nothing():
    switched("--poison", ())


def test_jitter_changes_nothing():
    switched("--jitter", ("1",), ("2",), ("3",))


def test_ledger_is_the_allocators_count():
    """What the ledger counts at its peak is what was asked of the allocator at its, but for libraries' workspaces."""
    if REHEARSE:
        return
    with Folder() as folder:
        for name, more in (("none", FLOAT32), ("native", BFLOAT16), ("fsdp2", BFLOAT16)):
            spools = folder / name
            content = scenario(folder, SMALL, parallel=STRATEGIES[name], measure={"warmup_steps": 1, "steps": 2}, **more)
            run = shardlab("run", write(folder, name, content), "--db", folder / "runs.db", "--keep-spool", spools)
            device = device_memory(spools)
            counted, requested = run["memory"]["peak_allocated"], device["requested"] - device["library_workspace"]
            print(f"        {name}: {counted} counted, {requested} requested besides {device['library_workspace']} of libraries", flush=True)
            assert 0 <= requested - counted < 1 << 20, f"{name}: {device}"


def test_memory_is_back_after_every_step():
    steps = 8 if REHEARSE else 200
    with Folder() as folder:
        for strategy in ("fsdp2", "native"):
            content = scenario(folder, SMALL, parallel={"strategy": strategy}, measure={"warmup_steps": 2, "steps": steps}, **BFLOAT16)
            shardlab("run", write(folder, strategy, content), "--db", folder / "runs.db")
            rows = sqlite3.connect(folder / "runs.db").execute(
                "SELECT steps.step, live FROM memory JOIN steps ON steps.id = step_id JOIN (SELECT step_id AS s, MAX(instruction) AS i "
                "FROM memory GROUP BY step_id) ON s = step_id AND i = instruction WHERE steps.rank = 0 AND warmup = 0 AND steps.run_id = "
                "(SELECT MAX(id) FROM runs)").fetchall()
            alive = {live for _, live in rows}
            print(f"        {strategy}: alive after each of {len(rows)} steps: {sorted(alive)} bytes", flush=True)
            assert len(rows) == steps and len(alive) == 1, f"{strategy}: {sorted(alive)}"


def test_out_of_memory_is_a_stored_result():
    with Folder() as folder:
        # On a GPU much larger than what libraries take of the limit.
        content = scenario(folder, SMALL, train={"micro_batch": 8 if REHEARSE else 128})
        whole = shardlab("run", write(folder, "whole", content), "--db", folder / "runs.db")
        limit = f"cluster.memory_limit={whole['memory']['peak_allocated'] // 2}B"
        words = shardlab("run", write(folder, "less", content), "--db", folder / "runs.db", "--set", limit, code=4)
        assert "out of memory" in words and "most is" in words and "stored as" in words, words
        stored = shardlab("show", "last", "--db", folder / "runs.db")
        assert stored["fits"] == "no" and "out of memory" in stored["ended_by"], stored
        print(f"        {stored['ended_by'][:200]}", flush=True)


def test_a_wrong_ordinal_is_named():
    if REHEARSE:
        return
    with Folder() as folder:
        content = scenario(folder, SMALL, parallel={"strategy": "fsdp2"})
        content["cluster"] = cluster(len(gpus()) + 1)
        env = {"NCCL_MULTI_RANK_GPU_ENABLE": "0"}
        words = shardlab("run", write(folder, "ordinal", content), "--db", folder / "runs.db", code=2, env=env)
        assert "LOCAL_RANK" in words, words


def test_the_allocator_history_opens_in_python():
    if REHEARSE:
        return
    with Folder() as folder:
        file = folder / "snapshot.pickle"
        shardlab("run", write(folder, "history", scenario(folder, SMALL)), "--db", folder / "runs.db", "--memory-snapshot", file)
        program = ("import pickle, sys; s = pickle.load(open(sys.argv[1], 'rb')); "
                   "print(len(s['segments']), sum(len(t) for t in s['device_traces'])); assert s['segments']")
        done = subprocess.run([os.environ["SHARDLAB_PYTHON"], "-c", program, str(file)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        print(f"        segments and events: {done.stdout.strip()}", flush=True)


print(f"on {DEVICE}, ranks {RANKS}", flush=True)
main(globals())
