"""A run that needs more memory than a rank may use: the figures, the instruction, and a stored result; and GPUs where there are none."""

from _shardlab import Place, check, expect, expect_error, main, needs_torch

needs_torch()


def peak_of(run):
    return run["memory"]["peak_allocated"]


def test_memory_ends_a_run_and_the_result_is_stored():
    place = Place()
    scenario = place.scenario()
    predicted = expect(place.run("simulate", scenario, "--json"), 0).json()
    limit = int(peak_of(predicted) * 0.8)
    result = place.run("run", scenario, "--set", f"cluster.memory_limit={limit}B")
    expect_error(result, 4, "out of memory", "in use of", "most is", "stored as r2")
    check(any(kind in result.err for kind in ("Forward", "Backward", "AllGather", "OptimizerStep", "Unpack", "Copy")), "an instruction", result)
    stored = expect(place.run("show", "last", "--json"), 0).json()
    check(stored["fits"] == "no" and stored["kind"] == "measured", f"{stored}")
    check("out of memory" in stored["ended_by"] and stored["memory_limit"] == limit, f"{stored}")
    check(0.3 * limit < peak_of(stored) <= limit, f"{peak_of(stored)} of {limit}")
    check(sum(stored["memory"]["by_class"].values()) == peak_of(stored), f"{stored['memory']}")
    shown = expect(place.run("show", "last"), 0).out
    check("not finished: rank" in shown and "fits" in shown, shown)
    print("        " + shown.splitlines()[1])
    check("0 ns" not in expect(place.run("history"), 0).out, "a step time nobody measured")


def test_a_limit_that_suffices_changes_nothing():
    place = Place()
    scenario = place.scenario()
    whole = expect(place.run("run", scenario, "--json"), 0).json()
    limit = int(peak_of(whole) * 1.02)
    again = expect(place.run("run", scenario, "--json", "--set", f"cluster.memory_limit={limit}B"), 0).json()
    check(again["losses"] == whole["losses"] and again["fits"] == "yes", f"{again['losses']} {whole['losses']}")


def test_gpus_that_are_not_here():
    place = Place()
    text = open(place.scenario(), encoding="utf-8").read().replace("{device: cpu, ranks: 2}", "{gpu: H100-SXM, gpus_per_node: 2}")
    scenario = place.scenario(text=text)
    result = place.run("run", scenario, timeout=60, env=place.environment(CUDA_VISIBLE_DEVICES=""))
    expect_error(result, 3, "GPU", "device: cpu")
    several = text.replace("gpus_per_node: 2", "gpus_per_node: 2, nodes: 4, inter_node_gbps_per_gpu: 400")
    expect_error(place.run("run", place.scenario(text=several), timeout=60), 3, "one machine", "torchrun")


def test_a_processor_has_no_allocator_history():
    place = Place()
    result = place.run("run", place.scenario(), "--memory-snapshot", place.path / "snapshot.pickle", timeout=60)
    expect_error(result, 3, "--memory-snapshot")


main(globals())
