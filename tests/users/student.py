"""Somebody who knows DDP and learns FSDP: what is sharded, why does a step send half as much again, what is there in return?"""
# processors: 1

from _answers import User, check, main, near

SMALL = """name: small
model: {config: llama-3-8b, sequence_length: 2048, overrides: {num_hidden_layers: 8}}
cluster: {node: hgx-h100}
parallel: {strategy: ddp}
train: {micro_batch: 1}
"""
RANKS = 8


def sent_by_a_rank(run):
    return sum(entry["sent"] for entry in run["communication"]) / RANKS


def test_the_student_finds_the_half_more():
    user = User()
    scenario = user.place.scenario("small", text=SMALL)

    # DDP holds everything on every rank: parameters, gradients, two moments.
    ddp = user.predict(scenario)
    model = ddp["memory"]["by_class"]["parameter"]
    check(ddp["memory"]["by_class"]["optimizer_state"] == 2 * model, f"{ddp['memory']['by_class']}")

    # Side by side: what FSDP2 shards is an eighth, and the words say which totals changed.
    beside = user.ask("diff", scenario, scenario, "--set", "parallel.strategy=fsdp2", "--json").json()
    check([each["key"] for each in beside["differs_in"]] == ["parallel.strategy"], f"{beside['differs_in']}")
    first, second = beside["predicted"], beside["measured"]
    near(second["memory"]["by_class"]["optimizer_state"], 2 * model / RANKS, 0.001, "moments of a rank")
    near(second["memory"]["by_class"]["parameter_shard"], model / RANKS, 0.001, "parameters of a rank")
    memory = {row["name"]: row for row in beside["difference"]["memory"]}
    check(memory["parameter shard"]["in_words"] == "new" and memory["parameter"]["in_words"] == "gone", f"{memory}")

    # An all-reduce is a reduce-scatter and an all-gather: 2. FSDP gathers twice and scatters once: 3. The root, with embeddings and head, is
    # gathered once only, since nothing comes between its forward and its backward.
    root = 2 * 128256 * 4096 + 4096
    share = root / (model / 4)
    near(sent_by_a_rank(second) / sent_by_a_rank(first), (3 - share) / 2, 0.001, "sent by a rank")
    near(second["volume"]["limit"], 3, 0.01, "with many layers and ranks")
    near(first["volume"]["limit"], 2, 0.01, "of DDP")

    # Why twice? The plan says it of the gather before a layer's backward.
    plan = user.ask("plan", scenario, "--set", "parallel.strategy=fsdp2", "--json").json()
    gathers = [each["id"] for each in plan["instructions"] if each["kind"] == "AllGather" and each["unit"] == "u3"]
    check(len(gathers) == 2, f"{gathers}")
    again = user.ask("plan", scenario, "--set", "parallel.strategy=fsdp2", "--explain", gathers[1], "--json").json()["explanation"]
    check("were there in forward and went" in again["reason"], again["reason"])
    check("parallel.reshard_after_forward" in [each["key"] for each in again["decided_by"]], f"{again['decided_by']}")

    # So the key is known, and what it costs: kept parameters of the layers.
    kept = user.predict(scenario, "parallel.strategy=fsdp2", "parallel.reshard_after_forward=false")
    near(sent_by_a_rank(kept) / sent_by_a_rank(first), 1, 0.001, "with parameters that stay")
    check(kept["memory"]["by_class"]["gathered_parameters"] > second["memory"]["by_class"]["gathered_parameters"], "they take memory")
    user.done(5)


main(globals())
