"""Somebody whose distillation of Qwen3-30B-A3B is out of memory: what holds it, and which settings free it?"""
# processors: 1

import os

from _answers import GIB, User, check, main

SCENARIO = "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml"
LONGER = ("--set", "model.sequence_length=16384")
LOGITS = 16384 * 151936 * 4  # of one float32 tensor of tokens x vocabulary: 9.27 GiB


def test_the_engineer_sees_what_holds_the_memory_and_three_settings_that_free_it():
    user = User()
    scenario = os.path.join(os.environ["SHARDLAB_SOURCE"], SCENARIO)

    # What holds it: the loss of a plain loop. Its float32 tensors of tokens x vocabulary are eight of ten bytes.
    plain = user.ask("simulate", scenario, *LONGER, "--peak", "--json").json()
    check(plain["fits"] == "no" and plain["implementation"] == "eager", f"{plain['fits']} {plain['implementation']}")
    rows = plain["alive_at_peak"]
    for row in rows[:4]:
        print(f"        {row['bytes'] / GIB:6.1f} GiB  {row['what']}")
    check(rows[0]["what"] == "temporaries" and rows[0]["since"] == "forward of the head", f"{rows[0]}")
    of_loss = sum(row["bytes"] for row in rows if row["since"] == "forward of the head")
    check(of_loss > 8 * LOGITS and of_loss > 0.7 * plain["memory"]["peak_allocated"], f"{of_loss / GIB:.1f} GiB of the loss")
    check(any(row["what"] == "the teacher's logits" for row in rows), f"{[row['what'] for row in rows]}")

    # In numbers of the scenario, and what would free it: each setting was predicted alone.
    explained = user.ask("explain", "memory", scenario, *LONGER, "--json").json()
    top = explained["rows"][0]
    check("eager_distillation_loss" in str(top) and "151936" in str(top).replace(",", ""), f"{top}")
    two, last = explained["settings"][:2], explained["settings"][-1]
    for each in (*two, last):
        print(f"        {each['gain'] / GIB:6.1f} GiB  {each['setting']}  fits {each['fits']}")
    names = [each["setting"].partition("=")[0] for each in (*two, last)]
    check(names == ["model.loss", "model.sequence_length", "model.implementation"] and last["comparison"], f"{names}")
    check(all(each["gain"] > 5 * LOGITS and each["fits"] == "yes" for each in (*two, last)), f"{two} {last}")

    # The first of them is no promise: it is the prediction with it.
    again = user.predict(scenario, LONGER[1], two[0]["setting"])
    check(again["memory"]["peak_allocated"] == two[0]["peak_allocated"] and again["fits"] == "yes", f"{again['memory']['peak_allocated']}")
    user.done(3)


# As it is when the scenario says nothing of the teacher but its name: 30.5e9 parameters of four bytes on every rank.
WHOLE = ("--set", "distillation.teacher=Qwen3-30B-A3B")
SHARDED = "distillation.teacher.parallel={strategy: fsdp2}"


def test_the_teacher_that_nobody_sharded_is_found():
    user = User()
    scenario = os.path.join(os.environ["SHARDLAB_SOURCE"], SCENARIO)
    settings = user.ask("explain", "memory", scenario, *WHOLE, "--json").json()["settings"]
    first = settings[0]
    print(f"        {first['gain'] / GIB:6.1f} GiB  {first['setting']}  fits {first['fits']}")
    check(first["setting"] == SHARDED and first["fits"] == "yes", f"{first}")
    # Seven of eight parts of 113.7 GiB, but for what is gathered of it: a layer, the next, embedding and head.
    whole = 30532122624 * 4
    check(0.7 * whole < first["gain"] < 0.875 * whole, f"{first['gain'] / GIB:.1f} GiB")
    # The doctor proposes the same, and with it the figures are the same.
    found = user.ask("doctor", scenario, *WHOLE, "--json", code=1).json()["findings"]
    check(any(SHARDED in str(each.get("fix")) for each in found), f"{[each.get('fix') for each in found]}")
    check("of it the teacher's: parameters 114 GiB" in str(found), f"{[each.get('evidence') for each in found]}")
    again = user.predict(scenario, WHOLE[1], first["setting"])
    check(again["memory"]["peak_device"] == first["peak_device"] and again["fits"] == "yes", f"{again['memory']['peak_device']}")
    # What makes its steps slow is in what it computes: float32.
    faster = user.ask("explain", "time", scenario, *WHOLE, "--json").json()["settings"][0]
    check(faster["settings"] == ["distillation.teacher.dtype=bfloat16"], f"{faster}")
    user.done(4)


SEARCH = """scenario: {scenario}
keep: {{global_batch: 8}}
offers: [{{node: p5.48xlarge, nodes: 1, price: 55.04, date: "2026-11-01", source: an example}}]
"""


def test_a_search_finds_what_explain_memory_proposes():
    user = User()
    file = user.place.path / "distillation.yaml"
    file.write_text(SEARCH.format(scenario=os.path.join(os.environ["SHARDLAB_SOURCE"], SCENARIO)))
    text = user.ask("search", str(file), "--no-store", *LONGER).out
    check("model.loss 8 chunks" in text and "Nothing satisfies" not in text, "the chunked loss", text)
    user.done(1)


main(globals())
