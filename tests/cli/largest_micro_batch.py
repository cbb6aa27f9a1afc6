"""Under cluster.memory_limit the largest micro-batch that a search names is the largest that runs: the one it names runs for real, the next
is out of memory. A dozen trainings on two ranks, of every strategy, with and without checkpoints."""
# processors: 2

import time

from _shardlab import Place, check, expect, main, needs_torch

needs_torch()

SIZES = [1, 2, 3, 4, 6, 8, 12, 16]
SCENARIO = """name: {name}
model:
  config: tiny-llama
  sequence_length: 64
  overrides: {{hidden_size: 96, intermediate_size: 256, num_hidden_layers: 3, num_attention_heads: 4, num_key_value_heads: 2}}
cluster: {{device: cpu, ranks: 2}}
parallel: {parallel}
activation: {{checkpoint: {checkpoint}}}
train: {{micro_batch: 1, accumulation: {accumulation}, data: assets/data/licenses.txt}}
measure: {{warmup_steps: 1, steps: 2}}
"""
TRAININGS = [(parallel, checkpoint, accumulation) for parallel, accumulation in
             (("{strategy: ddp}", 1), ("{strategy: fsdp1}", 2), ("{strategy: fsdp1, sharding: shard_grad_op}", 1), ("{strategy: fsdp2}", 1),
              ("{strategy: fsdp2, reshard_after_forward: false}", 2), ("{strategy: native}", 1)) for checkpoint in ("none", "full")]


def peak(place, scenario, size):
    return expect(place.run("simulate", scenario, "--no-store", "--json", "--set", f"train.micro_batch={size}"), 0).json()["memory"]["peak_allocated"]


def largest(place, limit):
    """What the search says."""
    search = place.path / "q.yaml"
    search.write_text(f"scenario: t.yaml\nvary: {{train.micro_batch: {SIZES}, train.accumulation: [{place.accumulation}]}}\n")
    found = expect(place.run("search", search, "--no-store", "--json", "--largest", "train.micro_batch", "--set", f"cluster.memory_limit={limit}B"), 0).json()
    return found["answers"][0]["micro_batch"]


def test_the_largest_micro_batch_is_the_largest_that_runs():
    begin, right = time.monotonic(), 0
    for number, (parallel, checkpoint, accumulation) in enumerate(TRAININGS):
        place = Place()
        place.accumulation = accumulation
        scenario = place.scenario("t", text=SCENARIO.format(name="t", parallel=parallel, checkpoint=checkpoint, accumulation=accumulation))
        at = 2 + number % 4  # which of the sizes is to be the largest
        limit = (peak(place, scenario, SIZES[at]) + peak(place, scenario, SIZES[at + 1])) // 2
        said = largest(place, limit)
        check(said == SIZES[at], f"{parallel}: {said}, {SIZES[at]} of {SIZES} was to be the largest")
        runs = [place.run("run", scenario, "--set", f"cluster.memory_limit={limit}B", "--set", f"train.micro_batch={size}")
                for size in (said, SIZES[at + 1])]
        right += runs[0].code == 0 and runs[1].code == 4 and "out of memory" in runs[1].err
        print(f"        {parallel} checkpoint {checkpoint}, accumulation {accumulation}: {said} named, "
              f"{'runs' if runs[0].code == 0 else 'FAILS'}; {SIZES[at + 1]} {'is out of memory' if runs[1].code == 4 else 'RUNS'}")
    print(f"        {right} of {len(TRAININGS)} in {time.monotonic() - begin:.0f} s")
    check(right == len(TRAININGS), f"{right} of {len(TRAININGS)}")


main(globals())
