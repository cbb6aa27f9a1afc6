"""A GPU trains what a processor trains; its memory goes back to where it was after every step; out of memory is a result.

Several ranks share one GPU where NCCL allows it (2.30 or newer, NCCL_MULTI_RANK_GPU_ENABLE=1, SHARDLAB_NCCL_LIBRARY); else one rank.
"""
import os
import sqlite3
import subprocess

from _gpu import REHEARSE, SMALL, Folder, gpus, main, need_gpu, scenario, shardlab, write

DEVICE = need_gpu()
SHARED = os.environ.get("NCCL_MULTI_RANK_GPU_ENABLE") == "1"
RANKS = [1, 2] if REHEARSE else [1, 2, 4] if SHARED else [count for count in (1, 2, 4) if count <= len(gpus())]
STRATEGIES = {"none": {"strategy": "none"}, "ddp": {"strategy": "ddp"}, "fsdp1": {"strategy": "fsdp1"},
              "fsdp1 shard_grad_op": {"strategy": "fsdp1", "sharding": "shard_grad_op"}, "fsdp2": {"strategy": "fsdp2"},
              "fsdp2 not resharded": {"strategy": "fsdp2", "reshard_after_forward": False}, "native": {"strategy": "native"}}
FLOAT32 = {}
BFLOAT16 = {"precision": {"param": "bfloat16", "reduce": "float32"}}


def losses(folder, on_gpu, parallel, ranks, more):
    content = scenario(folder, SMALL, parallel=parallel, train={"clip_norm": 1.0}, **more)
    if not on_gpu:
        content["cluster"] = {"device": "cpu", "ranks": ranks, "threads_per_rank": 1}
    elif REHEARSE:
        content["cluster"] = {"device": "cpu", "ranks": ranks, "threads_per_rank": 2}
    else:
        content["cluster"]["gpus_per_node"] = ranks
    run = shardlab("run", write(folder, "equal", content), "--db", folder / "runs.db")
    return run["losses"], run["gradient_norms"]


def compare(more, limit, without=()):
    with Folder() as folder:
        for name, parallel in STRATEGIES.items():
            for ranks in RANKS:
                if name in without:
                    continue
                if (name == "none") != (ranks == 1) and not (ranks == 1 and name in ("fsdp2", "native")):
                    continue
                mine, my_norms = losses(folder, True, parallel, ranks, more)
                other, other_norms = losses(folder, False, parallel, ranks, more)
                worst = max(abs(a - b) / abs(b) for a, b in zip(mine + my_norms, other + other_norms))
                print(f"        {name:<22} {ranks} ranks: losses and norms within {worst:.1e}", flush=True)
                assert len(mine) == len(other) and worst < limit, f"{name}, {ranks} ranks: {mine} and {other}"


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


def test_memory_is_back_after_every_step():
    steps = 30 if REHEARSE else 200
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
        content = scenario(folder, SMALL, train={"micro_batch": 8})
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
        content["cluster"]["gpus_per_node"] = len(gpus()) + 1
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
