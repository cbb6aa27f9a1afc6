"""Buckets of DistributedDataParallel, step by step, with find_unused_parameters and without: the all-reduces that the backend sees are the
plan's, among them the one that tells which parameters were used."""
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from _drawn import by_ranks, planned
from _peer import TEXT, TINY, Folder, needed

RANKS, STEPS = 2, 3
# Of torch, and what says the same in a scenario.
CAPS = {"as it is": ({}, {}), "60 kB": ({"bucket_cap_mb": 60_000 / 2**20}, {"bucket_size": 60_000}), "1 MiB": ({"bucket_cap_mb": 1}, {"bucket_size": 2**20})}


def cases(folder):
    for name, (cap, size) in CAPS.items():
        for unused in (True, False):
            for view in (True, False):
                accumulation = 2 if view == unused else 1
                # A larger vocabulary, so that the first bucket of 1 MiB is not the only one.
                config = {**TINY, "vocab_size": 8192, "tie_word_embeddings": view and not cap}
                flags = {"find_unused_parameters": unused, "gradient_as_bucket_view": view}
                place = folder / f"case{len(list(folder.iterdir()))}"
                place.mkdir()
                (place / "config.json").write_text(json.dumps(config))
                scenario = {"name": name, "model": {"config": str(place / "config.json"), "sequence_length": 16},
                            "cluster": {"device": "cpu", "ranks": RANKS}, "parallel": {"strategy": "ddp", "ddp": {**size, **flags}},
                            "train": {"micro_batch": 1, "accumulation": accumulation, "optimizer": "sgd"}}
                (place / "scenario.yaml").write_text(json.dumps(scenario))
                yield {"config": config, "text": str(TEXT), "ddp": {**cap, **flags}, "accumulation": accumulation, "steps": STEPS,
                       "file": str(place / "scenario.yaml")}


def main():
    needed("SHARDLAB", "SHARDLAB_PYTHON")
    bad = 0
    with Folder() as folder:
        all_cases = list(cases(folder))
        for case, made in zip(all_cases, by_ranks("DDP", "SHARDLAB_PYTHON", "_ddp_buckets_worker.py", all_cases, RANKS, folder)):
            ours = [sorted(call["bytes"] for call in planned(case["file"], step) if call["kind"] == "AllReduce") for step in range(STEPS)]
            good = ours == made
            bad += not good
            print(f"{'good  ' if good else 'FAILED'} {case['ddp']}, accumulation {case['accumulation']}: {[len(step) for step in made]} all-reduces")
            if not good:
                print(f"        ours {ours}\n        DDP's {made}")
    sys.exit(1 if bad else 0)


main()
