"""Two nodes as network namespaces train over TCP: the groups lie as the mesh says, and what crosses the wire is what the plan says."""
import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "cli"), str(pathlib.Path(__file__).resolve().parent)]
from _namespaces import Nodes, needed
from _shardlab import PROGRAM, Place, check, expect, main, needs_torch

needs_torch()
needed()

SCENARIO = """name: nodes
model:
  config: tiny-llama
  sequence_length: 32
  overrides: {{hidden_size: 128, intermediate_size: 352, num_hidden_layers: 3, num_attention_heads: 4, num_key_value_heads: 2}}
cluster: {{device: cpu, ranks: {ranks}}}
parallel: {parallel}
train: {{micro_batch: 1, learning_rate: 1e-3, clip_norm: 1.0, data: assets/data/licenses.txt}}
measure: {{warmup_steps: 1, steps: {steps}}}
"""

MESH = "mesh: {replicate: 2, shard: 2}"
# Name, ranks of a node, the `parallel` section.
CASES = [
    ("ddp, a rank on each node", 1, "{strategy: ddp}"),
    ("fsdp2, a rank on each node", 1, "{strategy: fsdp2}"),
    ("ddp", 2, "{strategy: ddp}"),
    ("fsdp2 over both nodes", 2, "{strategy: fsdp2}"),
    ("fsdp1 full_shard over both nodes", 2, "{strategy: fsdp1}"),
    ("fsdp1 hybrid_shard", 2, "{strategy: fsdp1, sharding: hybrid_shard, " + MESH + "}"),
    ("fsdp1 hybrid_shard_zero2", 2, "{strategy: fsdp1, sharding: hybrid_shard_zero2, " + MESH + "}"),
    ("fsdp2 on a mesh", 2, "{strategy: fsdp2, " + MESH + "}"),
]
PORT = 29511


def train(nodes, place, scenario, ranks_of_node):
    """The run's summary and the bytes that left the first node while it trained."""
    world = 2 * ranks_of_node
    before = nodes.sent_bytes(0)
    processes = []
    for rank in range(world):
        environment = place.environment(RANK=str(rank), WORLD_SIZE=str(world), LOCAL_RANK=str(rank % ranks_of_node),
                                        MASTER_ADDR=Nodes.ADDRESSES[0], MASTER_PORT=str(PORT))
        processes.append(nodes.start(rank // ranks_of_node, [PROGRAM, "run", scenario, "--json"], environment))
    try:
        outputs = [process.communicate(timeout=300) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()
    check([process.returncode for process in processes] == [0] * world, f"{outputs}")
    return json.loads(outputs[0][0]), nodes.sent_bytes(0) - before


def crossing(group, ranks_of_node):
    """Pairs of a sender on the first node and a receiver on the second."""
    first = sum(1 for rank in group if rank < ranks_of_node)
    return first * (len(group) - first)


def groups_like(group, world):
    """All groups of the expression that this one, which rank 0 is in, belongs to: its shifts that cover the world."""
    groups, seen = [], set()
    for shift in range(world):
        if shift not in seen:
            groups.append([rank + shift for rank in group])
            seen.update(groups[-1])
    return groups


def expected_bytes(plan, ranks_of_node):
    """From the first node to the second in one step: every rank sends each other rank of a group a part of the full side (of an
    all-reduce twice). With one rank on each node this is the ring formula, (W - 1) / W of the full side."""
    total = 0
    for instruction in plan["instructions"]:
        group = instruction["group"]
        if not group or len(group) == 1:
            continue
        pairs = sum(crossing(each, ranks_of_node) for each in groups_like(group, 2 * ranks_of_node))
        times = 2 if instruction["kind"] == "AllReduce" else 1
        total += times * pairs * instruction["bytes"] / len(group)
    return total


def check_groups(plan, name):
    """On a mesh shards lie within a node, replicas across."""
    if "hybrid" not in name and "mesh" not in name:
        return
    reduced = [i for i in plan["instructions"] if i["kind"] == "AllReduce" and i["unit"]]
    sharded = [i for i in plan["instructions"] if i["kind"] in ("AllGather", "ReduceScatter")]
    check(reduced and all(i["group"] == [0, 2] for i in reduced), "replicas are not the ranks at one place of each node")
    check(sharded and all(i["group"] == [0, 1] for i in sharded), "shards are not the ranks of a node")


def run_case(nodes, name, ranks_of_node, parallel):
    place = Place()
    steps = 8
    scenario = place.scenario(text=SCENARIO.format(ranks=2 * ranks_of_node, parallel=parallel, steps=steps))
    plans = [expect(place.run("plan", scenario, "--step", step, "--json"), 0).json() for step in ("0", "1", "steady")]
    check_groups(plans[2], name)
    run, sent = train(nodes, place, scenario, ranks_of_node)
    alone = expect(place.run("run", scenario, "--json"), 0).json()
    check(all(abs(a - b) <= 1e-5 * abs(a) for a, b in zip(run["losses"], alone["losses"])), f"{run['losses']}\n{alone['losses']}")
    first, second, steady = (expected_bytes(plan, ranks_of_node) for plan in plans)
    expected = first + second + (steps - 1) * steady  # one step of warm-up besides the measured ones
    print(f"  {name}: {sent} B left the node, {expected:.0f} B expected, {sent / expected - 1:+.2%}", flush=True)
    check(abs(sent / expected - 1) <= 0.05, f"{sent} B against {expected:.0f} B")


def test_two_nodes():
    with Nodes() as nodes:
        for case in CASES:
            run_case(nodes, *case)


main(globals())
