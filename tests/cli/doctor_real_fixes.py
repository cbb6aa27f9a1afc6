"""Fixes that the doctor predicts, run for real on processors: the peak within 1 %, the time in the predicted direction."""
import json

from _shardlab import Place, check, expect, main, needs_torch

SMALL = """name: small
model:
  config: tiny-llama
  sequence_length: {length}
  overrides: {{hidden_size: 192, intermediate_size: 512, num_hidden_layers: 6, num_attention_heads: 6, num_key_value_heads: 3}}
cluster: {{device: cpu, ranks: 2{limit}}}
parallel: {{{parallel}}}
train: {{micro_batch: {micro_batch}, learning_rate: 1e-3, clip_norm: 1.0, data: assets/data/licenses.txt{train}}}
{more}measure: {{warmup_steps: 2, steps: {steps}}}
"""
USUAL = dict(length=64, parallel="strategy: fsdp2", micro_batch=2, limit="", train="", more="", steps=4)
MANY = dict(length=16, micro_batch=1, train=", accumulation: 16, sync: every", steps=6)
# rule, what is wrong, whether the fix must make the step longer or shorter for real (none: too little to be seen beside other
# programs). Several are the same training before or after, which runs once.
CASES = [
    ("memory/activations-dominate", dict(length=512, micro_batch=1, limit=", memory_limit: 42MiB", steps=6), "longer"),
    ("memory/states-dominate", dict(limit=", memory_limit: 20MiB"), None),
    ("memory/accumulation-unsharded", dict(limit=", memory_limit: 26MiB", train=", accumulation: 4, sync: last"), None),
    ("offload/not-needed", dict(more="offload: {parameters: cpu}\n"), None),
    ("strategy/single-device-too-small", dict(parallel="strategy: ddp", limit=", memory_limit: 36MiB"), None),
    ("wrap/one-unit", dict(parallel="strategy: fsdp2, wrap: {policy: none}"), None),
    ("wrap/tiny-units", dict(parallel="strategy: fsdp2, wrap: {policy: size, min_params: 1000}"), "shorter"),
    ("speed/exposed", dict(parallel="strategy: fsdp2, wrap: {policy: size, min_params: 1000}"), "shorter"),
    ("speed/too-frequent", MANY, "shorter"),
    ("speed/tiny-batches", MANY, "shorter"),
]
MORE_TURNS = 3


class Runs:
    """Real runs by what they train: peak and shortest step, because other programs only ever make one longer."""

    def __init__(self):
        self.known = {}

    def of(self, place, file, settings, again=False):
        sets = [part for setting in ("cluster.memory_limit=none", *settings) for part in ("--set", setting)]
        trained = expect(place.run("scenario", file, "--write", *sets), 0).out
        if again or trained not in self.known:
            document = expect(place.run("run", file, "--json", *sets, timeout=300), 0).json()
            peak, step = document["memory"]["peak_allocated"], document["step_time_ns"]["min"]
            self.known[trained] = peak, min(step, self.known.get(trained, (peak, step))[1])
        return self.known[trained]


def is_as_said(direction, before, after):
    return not direction or (after > before) == (direction == "longer")


def test_ten_fixes_run_for_real():
    needs_torch()
    check(len({rule for rule, _, _ in CASES}) == 10, "ten rules")
    runs = Runs()
    for rule, wrong, direction in CASES:
        place = Place()
        file = place.scenario(name="small", text=SMALL.format(**{**USUAL, **wrong}))
        findings = json.loads(place.run("doctor", file, "--json").out)["findings"]
        finding = next((each for each in findings if each["rule"] == rule), None)
        check(finding and finding["effect"], f"{rule}: no fix in {[each['rule'] for each in findings]}")
        before, after = finding["effect"]["before"], finding["effect"]["after"]
        (peak_before, time_before), (peak_after, time_after) = runs.of(place, file, ()), runs.of(place, file, finding["fix"]["set"])
        for _ in range(MORE_TURNS):  # of a busy machine the next turn tells more
            if is_as_said(direction, time_before, time_after):
                break
            time_before = runs.of(place, file, (), again=True)[1]
            time_after = runs.of(place, file, finding["fix"]["set"], again=True)[1]
        print(f"{rule}: peak {peak_before:,} -> {peak_after:,} (predicted {before['peak']:,} -> {after['peak']:,}), "
              f"step {time_before / 1e6:.0f} -> {time_after / 1e6:.0f} ms "
              f"(predicted {before['step_time_ns'] / 1e6:.0f} -> {after['step_time_ns'] / 1e6:.0f} ms)")
        check(abs(peak_before / before["peak"] - 1) < 0.01 and abs(peak_after / after["peak"] - 1) < 0.01, f"{rule}: peak")
        check(is_as_said(direction, time_before, time_after), f"{rule}: the step did not get {direction}")
        check(is_as_said(direction, before["step_time_ns"], after["step_time_ns"]), f"{rule}: predicted another way")
    print(f"{len(runs.known)} trainings")


main(globals())
