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


main(globals())
