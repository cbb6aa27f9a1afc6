"""`search` killed at any moment, again and again, with several threads: what is kept is whole, nothing is simulated twice, and the answer is that of an exhaustive search."""

import json
import random
import re
import signal
import time

from _shardlab import Place, check, expect, main

SCENARIO = """name: gpt
model: {config: gpt2, sequence_length: 128, overrides: {n_layer: 2, n_embd: 512, n_head: 8, vocab_size: 8192}}
cluster: {node: dgx-h100, nodes: 1}
parallel: {strategy: fsdp2}
train: {micro_batch: 2, accumulation: 2}
"""
STRATEGIES = ["{strategy: ddp}", "{strategy: fsdp1}", "{strategy: fsdp2}", "{strategy: fsdp2, mesh: {replicate: 2}}", "{strategy: fsdp2, reshard_after_forward: false}",
              "{strategy: zero0}", "{strategy: zero1}", "{strategy: zero2}", "{strategy: zero3}"]
SPACES, KILLS = 6, 5


def question(place, draw):
    """A space of a few hundred combinations, of which some do not fit."""
    (place.path / "s.yaml").write_text(SCENARIO)
    text = ["scenario: s.yaml", "keep: {global_batch: 192}", "train: {tokens: 1G}", "offers:"]
    for node in ("dgx-h100", "dgx-a100"):
        text.append(f"- {{node: {node}, nodes: [1, 2, 4], price: {draw.randint(5, 40)}, date: '2026-01-01', source: a test}}")
    text += ["vary:", "  train.micro_batch: [1, 2, 3, 4, 6, 8]", f"  parallel: [{', '.join(draw.sample(STRATEGIES, 5))}]",
             "  activation.checkpoint: [none, full]", f"  cluster.memory_limit: [{draw.choice(['1100MiB', '1300MiB'])}, 4GiB]"]
    if draw.random() < 0.5:
        text.append("  train.sync: [last, every]")
    file = place.path / "q.yaml"
    file.write_text("\n".join(text) + "\n")
    return file


def kept_keys(kept):
    """Of the whole lines; a key stands once."""
    keys = [json.loads(line)["key"] for line in kept.read_text().splitlines() if line.endswith("}")] if kept.exists() else []
    check(len(keys) == len(set(keys)), f"{len(keys)} results, {len(set(keys))} different")
    return keys


def answer_of(document):
    return json.dumps([document[name] for name in ("answers", "front", "nearest")])


def test_killed_at_any_moment():
    draw = random.Random(19)
    for number in range(SPACES):
        place = Place()
        file = question(place, draw)
        kept = place.path / "q.yaml.results"
        threads = (1, 2, 7)[number % 3]
        for _ in range(KILLS):
            process = place.start("search", file, "--threads", str(threads))
            time.sleep(draw.uniform(0.1, 1.5))
            process.send_signal(signal.SIGKILL)
            process.wait()
            kept_keys(kept)
        before = len(kept_keys(kept))
        result = place.run("search", file, "--json", "--threads", str(threads))
        check(result.code in (0, 1), result.err)
        simulated = int(re.search(r"^(\d+) simulated now", result.err, re.MULTILINE).group(1))
        check(simulated == len(kept_keys(kept)) - before, f"{simulated} simulated, {before} of {len(kept_keys(kept))} were kept")
        exhaustive = place.run("search", file, "--json", "--no-store", "--exhaustive")
        check(answer_of(result.json()) == answer_of(exhaustive.json()), f"space {number} after {KILLS} kills")
        space = result.json()["space"]
        print(f"        space {number}: {space['total']} combinations, {before} kept through {KILLS} kills with {threads} threads, {simulated} simulated after")


main(globals())
