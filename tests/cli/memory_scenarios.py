"""The scenarios of scenarios/memory: what each says exceeds memory does, the verdict says why, and the setting that it names saves it."""
# processors: 1
from _shardlab import SOURCE, Place, check, expect, expect_error, main

FOLDER = SOURCE / "scenarios/memory"


def predicted(name, *settings):
    arguments = [part for setting in settings for part in ("--set", setting)]
    return expect(Place().run("simulate", FOLDER / name, "--no-store", "--no-calibration", "--json", *arguments), 0).json()


def phase(document, name):
    return next(each for each in document["memory"]["life"] if each["phase"] == name)


def test_saving_exceeds():
    document = predicted("saving-exceeds.yaml")
    check(document["fits"] == "no" and document["fit_reason"].startswith("save full takes"), f"{document['fit_reason']}")
    memory = document["memory"]
    check(memory["peak_device"] < document["memory_limit"], "the step alone does not fit")
    check(memory["phases"]["save_full"] == phase(document, "save_full")["device"] > document["memory_limit"], f"{memory['phases']}")
    check(not phase(document, "save_full")["runs"], "run writes no full checkpoints")
    for saved in ("checkpoint.offload_to_cpu=true", "checkpoint.type=sharded"):
        check(predicted("saving-exceeds.yaml", saved)["fits"] == "yes", saved)
    check(predicted("saving-exceeds.yaml", "train.save.every=0")["fits"] == "yes", "nothing is saved")


def test_the_table_says_what_the_verdict_is_about():
    """Not a chance of over 99 % beside "no": that is the chance of the steps, and the save does not fit."""
    text = expect(Place().run("simulate", FOLDER / "saving-exceeds.yaml", "--no-store", "--no-calibration"), 0).out
    words = " ".join(text[text.index("  fits "):text.index("communication of a rank")].split())
    check(words.startswith("fits no save full takes ") and words.endswith("; steps run with over 99 % limit 79.2 GiB a rank"), words)


def test_host_memory_exceeds():
    document = predicted("host-exceeds.yaml")
    check(document["fits"] == "no" and "of host memory" in document["fit_reason"], f"{document['fit_reason']}")
    models = phase(document, "construct")["host"] - phase(document, "steady")["host"]
    check(models == 8 * 4 * 70553706496, f"eight models in float32 are not {models}")
    for way in ("meta", "rank0_broadcast"):
        check(predicted("host-exceeds.yaml", f"parallel.initialization={way}")["fits"] == "yes", way)


def test_only_reserved_memory_exceeds():
    document = predicted("reserved-exceeds.yaml")
    memory = document["memory"]
    beside = memory["peak_device"] - memory["peak_reserved"]
    check(document["fits"] == "no" and document["fit_probability"] < 0.1, f"{document['fits']}")
    check(memory["peak_active"] + beside < document["memory_limit"] < memory["peak_device"], f"{memory}")
    saved = predicted("reserved-exceeds.yaml", "cluster.allocator.conf=expandable_segments:True")
    check(saved["fits"] != "no" and saved["memory"]["allocator_retries"] > 0, f"{saved['fits']}")
    check(saved["memory"]["peak_device"] <= saved["memory_limit"], "it runs within the limit")


def test_gathers_in_flight_are_waited_for():
    """Without FSDP1's limiter gathers of many layers are active; where memory ends the allocator waits for their streams and goes on."""
    def limited(memory):
        settings = ("parallel.strategy=fsdp1", "parallel.reshard_after_forward=default", "parallel.prefetch.limit_all_gathers=false",
                    "activation.checkpoint=full", f"cluster.memory_limit={memory}")
        return predicted("../first/llama3-8b-fsdp2-8xh100.yaml", *settings)
    document = limited("44GiB")
    memory = document["memory"]
    check(memory["allocator_retries"] > 0 and memory["peak_active"] > 1.5 * memory["peak_allocated"], f"{memory}")
    check(document["fits"] == "unsure" and document["fit_probability"] > 0.9, f"{document['fits']} {document['fit_probability']}")
    check(limited("20GiB")["fits"] == "no", "less than what is allocated at once")


def test_run_refuses_what_is_only_predicted():
    place = Place()
    scenario = place.scenario()
    expect_error(place.run("run", scenario, "--set", "parallel.initialization=cpu"), 2, "is predicted, and not run yet")
    expect_error(place.run("run", scenario, "--set", "checkpoint.type=sharded"), 2, "nearest that works")


main(globals())
