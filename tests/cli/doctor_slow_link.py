"""A link that became slow, made for real: the loopback of a namespace with a bucket of tokens before it. The doctor names the link of the
run, and of none that ran before."""
# processors: 2
import json
import shutil
import subprocess
import sys

from _shardlab import PROGRAM, SKIP, Place, check, expect, main, needs_torch

needs_torch()
IN_NAMESPACE = ["unshare", "-rn", "sh", "-c"]
SLOW = 'ip link set lo up && tc qdisc add dev lo root tbf rate {rate} burst 256k latency 500ms && exec "$@"'
RUN = 'ip link set lo up && exec "$@"'
SCENARIO = """name: linked
model:
  config: tiny-llama
  sequence_length: 32
  overrides: {hidden_size: 512, intermediate_size: 1024, num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 4}
cluster: {device: cpu, ranks: 2}
parallel: {strategy: fsdp2}
train: {micro_batch: 1, data: assets/data/licenses.txt}
measure: {warmup_steps: 1, steps: 3}
"""


def inside(place, script, *arguments):
    done = subprocess.run([*IN_NAMESPACE, script, "sh", PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          env=place.environment(), cwd=place.path)
    check(done.returncode in (0, 1), done.stdout + done.stderr)
    return done.stdout


def is_forbidden():
    if shutil.which("tc") is None or shutil.which("unshare") is None:
        return True
    return subprocess.run([*IN_NAMESPACE, SLOW.format(rate="100mbit"), "sh", "true"], capture_output=True).returncode != 0


def links_of(place):
    found = json.loads(place.run("doctor", "last", "--json").out)["findings"]
    return [finding for finding in found if finding["rule"] == "network/slow-links"]


def test_a_slow_link_is_named_and_a_quick_one_is_not():
    place = Place()
    scenario = place.scenario(text=SCENARIO)
    place.take_calibration()
    inside(place, RUN, "run", scenario)
    usual = links_of(place)
    inside(place, SLOW.format(rate="500mbit"), "run", scenario)
    slow = links_of(place)
    check(slow and "of its bandwidth" in slow[0]["message"], f"usual {usual}\nslow {slow}")
    print(slow[0]["message"])
    print("usual:", usual[0]["message"] if usual else "nothing found")


if is_forbidden():
    print("this machine forbids namespaces or has no tc")
    sys.exit(SKIP)
main(globals())
