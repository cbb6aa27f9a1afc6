"""`simulate`: fields, determinism, what it stores."""
# processors: 1

from _shardlab import SOURCE, WITH_TORCH, Place, check, check_fields, check_run, expect, expect_error, main


def test_fields_and_their_types():
    place = Place()
    for strategy, ranks in (("fsdp2", 2), ("ddp", 2), ("none", 1)):
        document = expect(place.run("simulate", place.scenario(strategy=strategy, ranks=ranks), "--json"), 0).json()
        check_run(document, "predicted")
        check(document["calibrated"] is False, "an empty database has no calibration")
        check(document["leaves_out"], "a prediction leaves nothing out")
        check(document["step_time_ns"]["median"] > 0, "no time")


def test_communication_is_what_the_plan_says():
    place = Place()
    scenario = place.scenario()
    plan = expect(place.run("plan", scenario, "--json"), 0).json()
    document = expect(place.run("simulate", scenario, "--json"), 0).json()
    check(document["plan_hash"] == plan["plan_hash"], "another plan")
    for entry in document["communication"]:
        alike = [i for i in plan["instructions"] if i["kind"] == entry["kind"] and len(i["group"] or []) == entry["group_size"]]
        check(len(alike) == entry["count"] and sum(i["bytes"] for i in alike) == entry["bytes"], f"{entry}")
    check({entry["kind"] for entry in document["communication"]} == {"AllGather", "ReduceScatter", "AllReduce"},
          f"{document['communication']}")


def test_two_simulations_are_equal_to_the_byte():
    place = Place()
    for file in (place.scenario(), SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml"):
        texts = []
        for _ in range(2):
            run = expect(place.run("simulate", file, "--json"), 0).json()
            perfetto = expect(place.run("trace", run["run_id"], "--warmup"), 0).out
            csv = expect(place.run("trace", run["run_id"], "--format", "csv", "--warmup"), 0).out
            run["run_id"] = None
            texts.append((run, perfetto, csv))
        check(texts[0] == texts[1], f"{file}: two simulations differ")
        check(len(texts[0][2].splitlines()) > 50, "a trace with no content")


def test_overrides_reach_the_prediction():
    place = Place()
    scenario = place.scenario()
    small = expect(place.run("simulate", scenario, "--json"), 0).json()
    large = expect(place.run("simulate", scenario, "--json", "--set", "train.micro_batch=8"), 0).json()
    check(large["memory"]["peak_allocated"] > small["memory"]["peak_allocated"], "more sequences need no more memory")
    check(large["step_time_ns"]["median"] > small["step_time_ns"]["median"], "more sequences take no more time")
    keeps = expect(place.run("simulate", scenario, "--json", "--set", "parallel.reshard_after_forward=false"), 0).json()
    check(sum(e["bytes"] for e in keeps["communication"]) < sum(e["bytes"] for e in small["communication"]), "resharding is free")


def test_a_teacher_is_accounted_apart():
    place = Place()
    extra = ("distillation: {teacher: {config: tiny-llama, overrides: {num_hidden_layers: 1}, dtype: bfloat16, "
             "parallel: {strategy: %s}}, temperature: 2}\n")
    alone = expect(place.run("simulate", place.scenario(), "--json"), 0).json()
    check(alone["memory"]["teacher"] is None, "a teacher without a distillation")
    whole = expect(place.run("simulate", place.scenario(name="whole", extra=extra % "none"), "--json"), 0).json()
    check_run(whole, "predicted")
    teacher = whole["memory"]["teacher"]
    parameters = 256 * 256 * 2 + 256 * 3 + (2 * 256 + 2 * 128) * 256 + 3 * 688 * 256  # embedding and head, norms, attention, MLP
    check(teacher["parameters"] == 2 * parameters and teacher["gathered"] == 0, f"{teacher}, not {2 * parameters}")
    sharded = expect(place.run("simulate", place.scenario(name="sharded", extra=extra % "fsdp2"), "--json"), 0).json()
    check(sharded["memory"]["teacher"]["parameters"] == parameters, f"{sharded['memory']['teacher']}")
    check(whole["step_time_ns"]["median"] > alone["step_time_ns"]["median"], "a teacher takes no time")
    check(sharded["volume"]["limit"] is None, "a limit nobody derived")
    shown = expect(place.run("show", sharded["run_id"], "--json"), 0).json()
    check(shown["memory"]["teacher"] == sharded["memory"]["teacher"], "the store forgot the teacher")
    again = place.path / "again.yaml"
    again.write_text(expect(place.run("show", sharded["run_id"], "--scenario"), 0).out)
    check(expect(place.run("simulate", again, "--json"), 0).json()["plan_hash"] == sharded["plan_hash"], "another plan")


def test_hardware_you_do_not_have():
    document = expect(Place().run("simulate", SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml", "--json"), 0).json()
    check_run(document, "predicted")
    check(document["mfu"] is not None and 0 < document["mfu"] < 1, f"MFU {document['mfu']}")
    check(document["fits"] is not None, "whether it fits is unknown")


def test_useless_gradients_do_not_count_as_use():
    place = Place()
    frozen = ["--set", "model.frozen=['**.q_proj', '**.up_proj', lm_head]", "--set", "cluster={node: hgx-h100}", "--json"]
    runs = [expect(place.run("simulate", place.scenario(), *frozen, "--set", f"parallel.strategy={s}"), 0).json()
            for s in ("fsdp1", "fsdp2")]
    flops = [run["mfu"] * run["step_time_ns"]["median"] for run in runs]
    check(abs(flops[0] / flops[1] - 1) < 1e-9, f"FSDP1's gradients of frozen weights count: {flops}")
    check(runs[0]["mfu_palm"] is None, "6N of a model that is partly frozen")


def test_what_is_assumed_is_said():
    place = Place()
    sets = ["--set", "cluster={gpu: MI250X, gpus_per_node: 8}"]
    text = expect(place.run("simulate", place.scenario(), *sets), 0).out
    for part in ("assumed", "figures of MI250X are estimates: ", "one of the 2 devices of an MI250X card"):
        check(part in text, f"'{part}' is not in:\n{text}")
    document = expect(place.run("simulate", place.scenario(), *sets, "--json"), 0).json()
    check(any("estimates" in each for each in document["assumes"]), document["assumes"])
    again = expect(place.run("show", document["run_id"], "--json"), 0).json()
    check(again["assumes"] == document["assumes"], "the store forgot what was assumed")


def test_both_conventions_of_mfu():
    place = Place()
    document = expect(place.run("simulate", SOURCE / "scenarios/first/llama3-8b-fsdp2-8xh100.yaml", "--json"), 0).json()
    tokens = document["tokens_per_second_per_gpu"]
    palm = (6 * 8030261248 + 12 * 32 * 4096 * 4096) * tokens / 989.4e12
    check(abs(document["mfu_palm"] / palm - 1) < 1e-6, f"{document['mfu_palm']}, by hand {palm}")
    check(document["mfu"] < document["mfu_palm"], "whole attention counts less than half of it")


def test_memory_limit_decides_whether_it_fits():
    place = Place()
    for limit, fits in (("16MiB", "yes"), ("64KiB", "no")):
        document = expect(place.run("simulate", place.scenario(), "--json", "--set", f"cluster.memory_limit={limit}"), 0).json()
        check(document["fits"] == fits, f"{limit}: fits is {document['fits']}, peak {document['memory']['peak_allocated']}")


def test_text():
    place = Place()
    text = expect(place.run("simulate", place.scenario()), 0).out
    for part in ("step time", "tokens", "AllGather"):
        check(part.lower() in text.lower(), f"'{part}' is not in:\n{text}")


def test_without_a_database():
    place = Place()
    document = expect(place.run("simulate", place.scenario(), "--json", "--no-store"), 0).json()
    check_run(document, "predicted", stored=False)
    check(not place.db.exists(), "--no-store made a database")
    nowhere = place.environment()
    for name in ("SHARDLAB_DB", "HOME", "XDG_DATA_HOME"):
        nowhere.pop(name)
    expect(place.run("simulate", place.scenario(), "--no-store", env=nowhere), 0)


def test_a_prediction_that_is_not_stored_uses_the_calibration():
    place = Place()
    if WITH_TORCH:
        place.take_calibration()
    else:
        expect(place.run("simulate", place.scenario()), 0)  # makes the database
    stored = expect(place.run("simulate", place.scenario(), "--json"), 0).json()
    alone = expect(place.run("simulate", place.scenario(), "--json", "--no-store"), 0).json()
    check(alone["calibrated"] == stored["calibrated"] == WITH_TORCH and alone["step_time_ns"] == stored["step_time_ns"], f"{alone}")
    without = expect(place.run("simulate", place.scenario(), "--json", "--no-store", "--no-calibration"), 0).json()
    check(without["calibrated"] is False and without["run_id"] is None, f"{without['calibrated']}")
    place.db.write_bytes(b"something else")
    expect_error(place.run("simulate", place.scenario(), "--no-store"), 2, "--no-calibration")
    expect(place.run("simulate", place.scenario(), "--no-store", "--no-calibration"), 0)


def test_quiet_and_pipes():
    place = Place()
    result = expect(place.run("simulate", place.scenario(), "--quiet"), 0)
    check(result.err == "", "--quiet writes to stderr", result)
    result = expect(place.run("simulate", place.scenario()), 0)
    check("\r" not in result.err and "\x1b" not in result.err + result.out, "terminal sequences in a pipe", result)


main(globals())
