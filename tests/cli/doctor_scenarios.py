"""The doctor's rules on scenarios: each file of tests/data/doctor/scenarios triggers the rule that it names, with the text beside it, and
its near misses (one setting each) do not. With --update the texts are written again."""
# processors: 1
import concurrent.futures
import json
import shutil
import sys

from _shardlab import SOURCE, Place, check, expect, expect_error, main

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


def found_in(place, text, *more):
    """What the doctor finds in a scenario of this text, its notes, and the exit code."""
    (place.path / "job.yaml").write_text(text)
    done = place.run("doctor", "job.yaml", "--json", *more)
    check(done.code in (0, 1), "examined", done)
    document = done.json()
    return [each["rule"] for each in document["findings"]], document, done.code


OFTEN = "speed/too-frequent"
OFTEN_FILE = FOLDER / "speed.too-frequent.yaml"


def test_comments_leave_a_rule_out_of_the_file_or_of_a_key():
    place, text = Place(), OFTEN_FILE.read_text()
    check(OFTEN in found_in(place, text)[0], "is found without a comment")
    for comment in ("# doctor: ignore E-16\n", f"# A note.\n#doctor: ignore A-05, {OFTEN}\n"):
        rules, document, _ = found_in(place, comment + text)
        check(OFTEN not in rules, "left out above all keys", document)
        check({"rule": OFTEN, "why": "is ignored"} in document["skipped"], "and said", document["skipped"])
    at_key = text.replace("sync: every }", "sync: every }  # doctor: ignore E-16")
    rules, document, _ = found_in(place, at_key)
    check(OFTEN not in rules, "left out at its key", document)
    check({"rule": OFTEN, "why": "is ignored at train, line 7"} in document["skipped"], document["skipped"])
    for near in ("# doctor: ignore E-12\n" + text, text.replace("strategy: fsdp2 }", "strategy: fsdp2 }  # doctor: ignore E-16"),
                 "# E-16 is no comment to the doctor\n" + text):
        check(OFTEN in found_in(place, near)[0], f"found all the same:\n{near}")
    notes = found_in(place, "# doctor: ignore E-61\n" + text)[1]["notes"]
    check(any("job.yaml line 1: no rule or code is called 'E-61'" in note for note in notes), f"{notes}")


def test_a_comment_outlives_a_fix():
    place = Place()
    (place.path / "job.yaml").write_text("# doctor: ignore E-16\n" + OFTEN_FILE.read_text())
    done = place.run("doctor", "job.yaml", "--fix", "-o", "fixed.yaml", "--json")
    check(OFTEN not in done.json()["fixed"]["rules"], "is not fixed", done)
    check("# doctor: ignore E-16" in (place.path / "fixed.yaml").read_text(), "and stays in the file")


def test_what_is_known_is_not_told_again():
    place, text = Place(), OFTEN_FILE.read_text()
    written = found_in(place, text, "--write-baseline", "known.json")
    check(written[2] == 0 and OFTEN in written[0], "what is written down is shown, and known from now on", written)
    again, document, code = found_in(place, text, "--baseline", "known.json")
    check(again == [] and code == 0 and document["known"] == len(written[0]), "is known", document)
    moved = text.replace("micro_batch: 1", "micro_batch: 2").replace("model:", "# A comment moves all lines.\nmodel:")
    check(OFTEN not in found_in(place, moved, "--baseline", "known.json")[0], "whatever its numbers and its line")
    other = text.replace("precision: { param: bfloat16, reduce: float32 }", "precision: { param: float32 }")
    rules, document, code = found_in(place, other, "--baseline", "known.json")
    check("memory/float32-activations" in rules and OFTEN not in rules and code == 1, "another finding is told", document)
    plain = expect(place.run("doctor", "job.yaml", "--baseline", "known.json"), 1).out
    check("known before" in plain, "the text counts them", plain)
    expect_error(place.run("doctor", "job.yaml", "--baseline", "nothing.json"), 2, "nothing.json")
    (place.path / "other.json").write_text("{}")
    expect_error(place.run("doctor", "job.yaml", "--baseline", "other.json"), 2, "other.json", "no baseline")
    expect_error(place.run("doctor", "job.yaml", "--baseline", "known.json", "--fix", "-o", "f.yaml"), 2, "--fix")


main(globals())
