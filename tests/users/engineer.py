"""Somebody whose distillation of Qwen3-30B-A3B is out of memory: what holds it, and which settings free it?"""

from _answers import GIB, User, check, main

SCENARIO = "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml"


def test_the_engineer_sees_what_a_plain_loop_holds():
    import os
    user = User()
    scenario = os.path.join(os.environ["SHARDLAB_SOURCE"], SCENARIO)
    longer = "model.sequence_length=16384"

    # Seven float32 tensors of 16,384 x 151,936 are 64.9 GiB: copies of both logits, the student's softened logarithms, the teacher's
    # probabilities, and three of the divergence.
    logits = 16384 * 151936 * 4
    plain = user.predict(scenario, longer)
    check(plain["implementation"] == "eager" and plain["fits"] == "no", f"{plain['implementation']} {plain['fits']}")
    check(plain["memory"]["peak_allocated"] > 7 * logits, f"{plain['memory']['peak_allocated'] / GIB:.1f} GiB")
    check("Forward" in plain["memory"]["peak_label"], plain["memory"]["peak_label"])

    # Three ways out: one operator for the loss, shorter sequences, half the vocabulary's work is not there.
    fused = next(each for each in plain["alternatives"] if each["setting"] == "model.implementation=fused")
    check(fused["peak_allocated"] < plain["memory"]["peak_allocated"] - 5 * logits, f"{fused}")
    shorter = user.predict(scenario, "model.sequence_length=8192")
    check(shorter["fits"] == "yes", f"{shorter['fits']}")
    again = user.predict(scenario, longer, "model.implementation=fused")
    check(again["memory"]["peak_allocated"] == fused["peak_allocated"], "the alternative was another prediction")
    user.done(3)


main(globals())
