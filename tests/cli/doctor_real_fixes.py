"""Fixes that the doctor predicts, run for real on processors: the peak within 1 %, the time in the predicted direction."""
import json

from _shardlab import Place, check, expect, main, needs_torch

SMALL = """name: small
model:
  config: tiny-llama
  sequence_length: {length}
  overrides: {{hidden_size: 192, intermediate_size: 512, num_hidden_layers: 6, num_attention_heads: 6, num_key_value_heads: 3}}
cluster: {{device: cpu, ranks: 2{cluster}}}
parallel: {{{parallel}}}
train: {{micro_batch: {micro_batch}, learning_rate: 1e-3, clip_norm: 1.0, data: assets/data/licenses.txt{train}}}
measure: {{warmup_steps: 2, steps: 6}}
"""
# rule, what is wrong, whether the fix must make the step longer or shorter for real (none: too little to be seen beside other programs)
CASES = [
    ("memory/activations-dominate", dict(length=512, parallel="strategy: fsdp2", micro_batch=1, cluster=", memory_limit: 42MiB", train=""), "longer"),
    ("wrap/one-unit", dict(length=128, parallel="strategy: fsdp2, wrap: {policy: none}", micro_batch=2, cluster="", train=""), None),
    ("speed/too-frequent", dict(length=16, parallel="strategy: fsdp2", micro_batch=1, cluster="", train=", accumulation: 16, sync: every"), "shorter"),
]


MORE_TURNS = 3


# The shortest step: other programs only ever make one longer.
def real(place, file, *settings):
    sets = [part for setting in settings for part in ("--set", setting)]
    document = expect(place.run("run", file, "--json", *sets, timeout=300), 0).json()
    return document["memory"]["peak_allocated"], document["step_time_ns"]["min"]


def test_fixes_run_for_real():
    needs_torch()
    for rule, wrong, direction in CASES:
        place = Place()
        file = place.scenario(name="small", text=SMALL.format(**wrong))
        findings = json.loads(place.run("doctor", file, "--json").out)["findings"]
        finding = next((each for each in findings if each["rule"] == rule), None)
        check(finding and finding["effect"], f"{rule}: no fix in {[each['rule'] for each in findings]}")
        before, after = finding["effect"]["before"], finding["effect"]["after"]
        unlimited = ["cluster.memory_limit=none"] if "limit" in wrong["cluster"] else []
        peak_before, time_before = real(place, file, *unlimited)
        peak_after, time_after = real(place, file, *unlimited, *finding["fix"]["set"])
        for _ in range(MORE_TURNS):  # of a busy machine the next turn tells more
            if not direction or (time_after > time_before) == (direction == "longer"):
                break
            time_before = min(time_before, real(place, file, *unlimited)[1])
            time_after = min(time_after, real(place, file, *unlimited, *finding["fix"]["set"])[1])
        print(f"{rule}: peak {peak_before:,} -> {peak_after:,} (predicted {before['peak']:,} -> {after['peak']:,}), "
              f"step {time_before / 1e6:.0f} -> {time_after / 1e6:.0f} ms "
              f"(predicted {before['step_time_ns'] / 1e6:.0f} -> {after['step_time_ns'] / 1e6:.0f} ms)")
        check(abs(peak_before / before["peak"] - 1) < 0.01 and abs(peak_after / after["peak"] - 1) < 0.01, f"{rule}: peak")
        if direction:
            check((time_after > time_before) == (direction == "longer"), f"{rule}: the step did not get {direction}")
            check((after["step_time_ns"] > before["step_time_ns"]) == (direction == "longer"), f"{rule}: predicted another way")


main(globals())
