"""What the doctor says of fixes is what `simulate` says of the file that --fix writes, and the file is well."""
# processors: 1
import json
import shutil

from _shardlab import SOURCE, Place, check, expect, main

CASES = SOURCE / "tests/data/doctor/scenarios"
# Shipped to show a mistake; the doctor must say so.
SHOW_A_MISTAKE = {
    "memory/host-exceeds.yaml": ["memory/host-exhausted"],
    "memory/saving-exceeds.yaml": ["checkpoint/full-on-device"],
    "memory/reserved-exceeds.yaml": ["memory/fragmentation"],
    # Show how offload copies; the model would fit.
    "offload/fsdp1-copies-again.yaml": ["offload/not-needed"],
    "offload/pageable.yaml": ["offload/not-needed", "strategy/keep-parameters"],
    "offload/zero2-optimizer.yaml": ["offload/not-needed"],
    # Take 96 % and more of their devices.
    "offload/fsdp2-70b-8xh100.yaml": ["memory/fragmentation"],
    "offload/zero3-both-70b.yaml": ["memory/fragmentation"],
    "offload/zero3-nvme-70b.yaml": ["memory/fragmentation"],
    "zero/zero3-neighbours.yaml": ["memory/fragmentation"],
    # Is there so that building and simulating a large plan can be timed; it needs checkpointing to fit.
    "validation/llama-80-layers.yaml": ["memory/activations-dominate"],
    # Shows what ZeRO-3 keeps of a model for which no sharding is needed.
    "zero/zero3-never-releases.yaml": ["strategy/replication-would-do"],
}


def simulated(place, file):
    return expect(place.run("simulate", file, "--no-store", "--json"), 0).json()


def fits_effect(cost, run):
    return (cost["peak"] == run["memory"]["peak_allocated"] and cost["reserved"] == run["memory"]["peak_reserved"]
            and cost["step_time_ns"] == run["step_time_ns"]["median"] and cost["exposed_ns"] == run["exposed_communication_ns"])


def test_effects_are_what_simulate_says_of_the_written_file():
    compared = 0
    for file in sorted(CASES.glob("*.yaml")):
        place = Place()
        shutil.copy(file, place.path)
        document = json.loads(place.run("doctor", file.name, "--json").out)
        tried = [finding for finding in document["findings"] if finding["effect"]]
        if not tried:
            continue
        check(fits_effect(tried[0]["effect"]["before"], simulated(place, file.name)), f"{file.name}: before")
        for finding in tried[:2]:
            sets = [part for setting in finding["fix"]["set"] for part in ("--set", setting)]
            fixed = place.path / f"fixed-{compared}.yaml"
            fixed.write_text(expect(place.run("scenario", file.name, "--write", *sets), 0).out)
            check(fits_effect(finding["effect"]["after"], simulated(place, fixed.name)), f"{file.name}: {finding['rule']} {sets}")
            compared += 1
    print(f"{compared} effects equal to the byte and the nanosecond")
    check(compared > 80, f"only {compared} effects")


def test_a_scenario_that_does_not_fit_is_fixed():
    for rule in ("memory.activations-dominate", "memory.batch-too-large", "strategy.single-device-too-small", "strategy.raise-stage",
                 "memory.states-dominate", "memory.fragmentation", "memory.host-exhausted", "checkpoint.full-on-device"):
        place = Place()
        shutil.copy(CASES / f"{rule}.yaml", place.path / "job.yaml")
        before = place.run("doctor", "job.yaml")
        expect(before, 1)
        check(before.out.startswith("error: "), "an error comes first", before)
        fixed = json.loads(place.run("doctor", "job.yaml", "--fix", "-o", "fixed.yaml", "--json").out)
        check(fits_effect(fixed["fixed"]["effect"]["after"], simulated(place, "fixed.yaml")), f"{rule}: effect of all fixes")
        after = place.run("doctor", "fixed.yaml", "--json")
        remain = [each["rule"] for each in json.loads(after.out)["findings"] if each["severity"] != "info"]
        said = [each["rule"] for each in fixed["findings"] if each["severity"] != "info"]
        check(remain == said, f"{rule}: remains {remain}, said {said}")
        check(after.code == (1 if remain else 0), f"{rule}: exit code", after)
        print(f"{rule}: {' '.join(fixed['fixed']['set'])}{' remains: ' + ' '.join(remain) if remain else ''}")


def test_the_doctor_and_explain_memory_propose_the_same():
    place = Place()
    shutil.copy(SOURCE / "scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml", place.path / "job.yaml")
    longer = ("--set", "model.sequence_length=16384")
    chunks = "model.loss={kind: chunked, chunks: 8}"
    explained = expect(place.run("explain", "memory", "job.yaml", *longer, "--json"), 0).json()["settings"]
    check(any(each["setting"] == chunks and each["fits"] == "yes" for each in explained), f"{explained}")
    done = expect(place.run("doctor", "job.yaml", *longer, "--fix", "-o", "fixed.yaml", "--json"), 0).json()
    check(done["fixed"]["set"] == [chunks] and done["fixed"]["effect"]["after"]["fits"], f"{done['fixed']}")


# Autocast allows no loss in chunks.
TOO_LARGE = """name: too-large
model: {config: gemma-2b, sequence_length: 2048}
cluster: {gpu: A100-SXM-40GB, gpus_per_node: 1}
parallel: {strategy: none}
precision: {autocast: bfloat16}
train: {micro_batch: 4}
"""


def test_a_fix_that_does_not_suffice_says_what_lacks_and_is_no_success():
    place = Place()
    (place.path / "job.yaml").write_text(TOO_LARGE)
    text = expect(place.run("doctor", "job.yaml"), 1).out
    check("is not enough: still " in text and "what is left: activations " in text, text)
    done = expect(place.run("doctor", "job.yaml", "--fix", "-o", "fixed.yaml"), 1)
    check(", and still does not fit\n" in done.out and "does not fit: still " in done.out, "no success is claimed", done)
    after = json.loads(place.run("doctor", "job.yaml", "--fix", "-o", "again.yaml", "--json").out)["fixed"]["effect"]["after"]
    run = simulated(place, "again.yaml")
    check(after["fits"] is False and after["too_much"] == run["memory"]["peak_device"] - run["memory_limit"], f"{after}")
    quiet = expect(place.run("doctor", "job.yaml", "--ignore", "A-05", "--ignore", "A-07", "--fix", "-o", "ignored.yaml"), 1)
    check("ignored.yaml is written as it was, and does not fit" in quiet.out, "ignoring the rules mends nothing", quiet)


def with_replacements(text, fix):
    """The text with a fix of SARIF made, as an editor makes it: regions of whole lines."""
    lines = text.splitlines(keepends=True)
    for replacement in sorted(fix["artifactChanges"][0]["replacements"], key=lambda one: -one["deletedRegion"]["startLine"]):
        region = replacement["deletedRegion"]
        check(region["startColumn"] == region["endColumn"] == 1, region)
        lines[region["startLine"] - 1:region["endLine"] - 1] = [replacement["insertedContent"]["text"]]
    return "".join(lines)


def test_a_fix_keeps_comments_and_sarif_has_it_as_lines():
    place = Place()
    text = (CASES / "memory.activations-dominate.yaml").read_text() + "# the end\n"
    (place.path / "job.yaml").write_text(text)
    fixed = json.loads(place.run("doctor", "job.yaml", "--fix", "-o", "fixed.yaml", "--json").out)
    check("# the end" in (place.path / "fixed.yaml").read_text(), (place.path / "fixed.yaml").read_text())
    results = json.loads(place.run("doctor", "job.yaml", "--format", "sarif").out)["runs"][0]["results"]
    first = next(result for result in results if result["ruleId"] == "memory/activations-dominate")
    (place.path / "edited.yaml").write_text(with_replacements(text, first["fixes"][0]))
    check(first["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"] == "job.yaml", first)
    check(fits_effect(fixed["fixed"]["effect"]["after"], simulated(place, "edited.yaml")), f"{fixed}\n{first}")
    check(sum("fixes" in result for result in results) > 1, results)
    other = place.run("doctor", "job.yaml", "--set", "train.micro_batch=2", "--fix", "-o", "elsewhere.yaml", "--json")
    check(fits_effect(json.loads(other.out)["fixed"]["effect"]["after"], simulated(place, "elsewhere.yaml")), other)


def test_shipped_scenarios_are_well():
    wrong = []
    for file in sorted((SOURCE / "scenarios").glob("*/*.yaml")):
        name = str(file.relative_to(SOURCE / "scenarios"))
        if name.startswith("search/"):
            continue
        done = Place().run("doctor", file, "--json")
        above = [each["rule"] for each in json.loads(done.out)["findings"] if each["severity"] != "info"]
        expected = SHOW_A_MISTAKE.get(name, [])
        if above != expected:
            wrong.append(f"{name}: {above}, expected {expected}")
    check(not wrong, "\n".join(wrong))


def test_the_page_says_how_many_shipped_scenarios_show_a_mistake():
    words = {8: "eight", 9: "nine", 10: "ten", 11: "eleven", 12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen"}
    said = f"but for {words[len(SHOW_A_MISTAKE)]} that show a mistake"
    check(said in (SOURCE / "docs/doctor-scenarios.md").read_text(), f"docs/doctor-scenarios.md does not say '{said}'")
    check(all((SOURCE / "scenarios" / name).exists() for name in SHOW_A_MISTAKE), "a row is about a scenario that is no more")


def test_fixes_of_chosen_rules_and_files_that_exist():
    place = Place()
    shutil.copy(CASES / "memory.float32-activations.yaml", place.path / "job.yaml")
    fixed = json.loads(place.run("doctor", "job.yaml", "C-05", "--fix", "-o", "fixed.yaml", "--json").out)["fixed"]
    check(fixed["rules"] == ["memory/float32-activations"], f"{fixed}")
    again = place.run("doctor", "job.yaml", "--fix", "-o", "fixed.yaml")
    check(again.code == 2 and "exists already" in again.err, "refuses to replace", again)
    expect(place.run("doctor", "job.yaml", "--fix"), 2)


def test_mistakes_are_findings_with_line_and_column():
    place = Place()
    file = place.scenario(extra="parallell: {strategy: fsdp2}\nprecision: {param: bf17}\n")
    done = place.run("doctor", "tiny.yaml", "--as", "scenario", "--json")
    expect(done, 1)
    findings = json.loads(done.out)["findings"]
    check([each["rule"] for each in findings] == ["scenario/mistake"] * 2, f"{findings}")
    check(all(each["severity"] == "error" and each["evidence"][0]["where"].startswith("line ") for each in findings), f"{findings}")
    check(file.endswith("tiny.yaml"), file)


def test_a_scenario_and_a_log_are_one_case():
    place = Place()
    shutil.copy(CASES / "memory.activations-dominate.yaml", place.path / "job.yaml")
    (place.path / "job.log").write_text('[rank0]:   File "/x/modeling_llama.py", line 9, in forward\n'
                                        "[rank0]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.\n")
    done = place.run("doctor", "job.yaml", "job.log", "--json")
    expect(done, 1)
    first = json.loads(done.out)["findings"][0]
    check({each["source"] for each in first["evidence"]} == {"job.yaml", "job.log"}, f"{first}")
    check(first["effect"]["after"]["fits"] and first["fix"]["set"], f"{first}")


def test_a_stored_run_is_examined_by_its_name():
    place = Place()
    file = place.scenario()
    expect(place.run("simulate", file), 0)
    by_name, by_file = place.run("doctor", "r1", "--json"), place.run("doctor", file, "--json")
    expect(by_name, 0)
    rules = [[each["rule"] for each in json.loads(done.out)["findings"]] for done in (by_name, by_file)]
    check(rules[0] == rules[1], f"{rules}")


main(globals())
