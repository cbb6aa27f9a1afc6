"""The doctor's rules on scenarios: each file of tests/data/doctor/scenarios triggers the rule that it names, with the text beside it, and
its near misses (one setting each) do not. With --update the texts are written again."""
# processors: 1
import concurrent.futures
import json
import shutil
import sys

from _shardlab import SOURCE, Place, check, expect, main

FOLDER = SOURCE / "tests/data/doctor/scenarios"
UPDATE = "--update" in sys.argv


def finding_of(rule, file, *settings):
    """What the doctor prints of the rule, or nothing."""
    place = Place()
    shutil.copy(file, place.path)
    arguments = [part for setting in settings for part in ("--set", setting)]
    done = place.run("doctor", file.name, "--verbose", *arguments)
    check(done.code in (0, 1), f"{file.name} {settings}", done)
    blocks = done.out.split("\n\n")
    return next((block + "\n" for block in blocks if block.splitlines()[0].endswith(f" {rule}]")), None)


def wrong_of(file):
    """What is wrong with a case, as lines."""
    head = [line[2:] for line in file.read_text().splitlines() if line.startswith("# ")]
    rule = next(line.removeprefix("rule: ") for line in head if line.startswith("rule: "))
    found = finding_of(rule, file)
    wrong = [] if found else [f"{file.name}: no finding"]
    expected = file.with_suffix(".txt")
    if found and UPDATE:
        expected.write_text(found)
    elif found and (not expected.exists() or expected.read_text() != found):
        wrong.append(f"{file.name}: another text than {expected.name}:\n{found}")
    nears = [line.removeprefix("near: ") for line in head if line.startswith("near: ")]
    if not nears:
        wrong.append(f"{file.name}: no near miss")
    for near in nears:
        also = finding_of(rule, file, near)
        if also:
            wrong.append(f"{file.name}: found as well with {near}:\n{also}")
    return wrong


def test_every_rule_finds_its_case_and_not_its_near_misses():
    files = sorted(FOLDER.glob("*.yaml"))
    with concurrent.futures.ThreadPoolExecutor(2) as workers:
        wrong = [line for lines in workers.map(wrong_of, files) for line in lines]
    check(not wrong, "\n".join(wrong))
    print(f"{len(files)} cases")


def test_every_rule_that_scenarios_are_checked_for_has_a_case():
    rules = json.loads(expect(Place().run("doctor", "--rules", "--json"), 0).out)["rules"]
    # They compare a measured run with its prediction: tests/unit has their cases.
    elsewhere = {"memory/above-prediction", "data/unbalanced", "network/slow-links",
                 # These compare with a machine: doctor_machine.py.
                 "versions/function-not-found", "start/fewer-devices", "configuration/effective-differs"}
    checked = {rule["id"] for rule in rules if {"configuration", "plan", "prediction"} & set(rule["needs"])} - elsewhere
    cases = {file.stem.replace(".", "/", 1) for file in FOLDER.glob("*.yaml")}
    check(checked == cases, f"no case: {sorted(checked - cases)}; no rule: {sorted(cases - checked)}")


main(globals())
