"""Several ranks on the GPUs that are here, one for all of them where NCCL allows it: many steps, a rank that is killed, memory that ends on one,
replicas of shards, and memory checked by compute-sanitizer."""
import os
import pathlib
import shutil
import signal
import subprocess
import time

from _gpu import REHEARSE, SMALL, Folder, cluster, main, need_gpu, scenario, shardlab, write

DEVICE = need_gpu()
BFLOAT16 = {"precision": {"param": "bfloat16", "reduce": "float32"}}


def of_ranks(folder, ranks, name="several", **sections):
    content = scenario(folder, SMALL, **sections)
    content["cluster"] = cluster(ranks)
    return write(folder, name, content)


def test_soak():
    """Threads of a watch beside hundreds of collectives a second."""
    steps = 20 if REHEARSE else 600
    with Folder() as folder:
        file = of_ranks(folder, 2, parallel={"strategy": "fsdp2"}, measure={"warmup_steps": 2, "steps": steps}, **BFLOAT16)
        began = time.monotonic()
        run = shardlab("run", file, "--db", folder / "runs.db")
        print(f"        {steps} steps in {time.monotonic() - began:.0f} s, losses {run['losses'][0]:.3f} to {run['losses'][-1]:.3f}", flush=True)
        assert len(run["losses"]) >= steps and run["losses"][-1] < run["losses"][0], run["losses"][-5:]


def ranks_of(program):
    """The processes of a run's ranks: children of its program."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[1]) == program:
            found.append(int(entry.name))
    return sorted(found)


def test_killed_rank_ends_the_run():
    with Folder() as folder:
        file = of_ranks(folder, 2, parallel={"strategy": "fsdp2"}, measure={"warmup_steps": 2, "steps": 100000})
        command = [os.environ["SHARDLAB"], "run", str(file), "--db", str(folder / "runs.db"), "--progress", "json"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            for line in run.stderr:  # until it trains
                if '"step"' in line or "step" in line:
                    break
            time.sleep(1)
            began = time.monotonic()
            os.kill(ranks_of(run.pid)[-1], signal.SIGKILL)
            try:
                words = run.communicate(timeout=45)[1]
            except subprocess.TimeoutExpired:
                run.kill()
                raise AssertionError("45 s after a rank was killed the run had not ended") from None
        print(f"        ended after {time.monotonic() - began:.0f} s: {words.strip().splitlines()[-1][:150]}", flush=True)
        assert run.returncode == 4 and "rank 1" in words, f"exit code {run.returncode}: {words}"


def test_memory_of_one_rank_ends_the_run():
    with Folder() as folder:
        # On a GPU much larger than what libraries take of the limit.
        file = of_ranks(folder, 2, parallel={"strategy": "fsdp2"}, train={"micro_batch": 8 if REHEARSE else 128})
        whole = shardlab("run", file, "--db", folder / "runs.db")
        limit = f"cluster.memory_limit={whole['memory']['peak_allocated'] // 2}B"
        words = shardlab("run", file, "--db", folder / "runs.db", "--set", limit, code=4)
        print(f"        {words.strip().splitlines()[0][:150]}", flush=True)
        assert "out of memory" in words and "stored as" in words, words


def test_hybrid_trains_what_shards_train():
    with Folder() as folder:
        losses = []
        for mesh in ({"shard": 4}, {"replicate": 2, "shard": 2}):
            file = of_ranks(folder, 4, parallel={"strategy": "fsdp2", "mesh": mesh})
            losses.append(shardlab("run", file, "--db", folder / "runs.db")["losses"])
        worst = max(abs(a - b) / abs(b) for a, b in zip(*losses))
        print(f"        losses of 2 x 2 within {worst:.1e} of 4", flush=True)
        assert worst < 2e-4, losses


def test_memcheck_finds_nothing():
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    if REHEARSE or not pathlib.Path(sanitizer).exists():
        print("        left out: no compute-sanitizer", flush=True)
        return
    with Folder() as folder:
        file = of_ranks(folder, 1, parallel={"strategy": "native"}, measure={"warmup_steps": 1, "steps": 1}, **BFLOAT16)
        command = [sanitizer, "--target-processes", "all", "--log-file", str(folder / "memcheck-%p.log"), os.environ["SHARDLAB"], "run", str(file),
                   "--db", str(folder / "runs.db"), "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        words = [log.read_text() for log in folder.glob("memcheck-*.log")]
        clean = [text for text in words if "ERROR SUMMARY: 0 errors" in text]
        print(f"        {len(clean)} of {len(words)} processes without an error", flush=True)
        assert done.returncode == 0 and clean and len(clean) == len(words), "\n".join(words)[-3000:] + done.stderr[-1000:]


print(f"on {DEVICE}", flush=True)
main(globals())
