"""`replay`: histories of torch's allocator under other options and limits, and files that are none."""
# processors: 1

import json
import pickle

from _shardlab import SOURCE, Place, check, expect, expect_error, main

DATA = SOURCE / "tests" / "data" / "allocator"
HISTORY = DATA / "history_default.pickle"


def test_statistics_by_torchs_names():
    document = expect(Place().run("replay", HISTORY, "--json"), 0).json()
    torch = json.loads((DATA / "history_default.statistics.json").read_text())
    for name in ("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes", "requested_bytes"):
        for what in ("current", "peak", "allocated", "freed"):
            check(document["statistics"][name][what] == torch[f"{name}.all.{what}"], f"{name} {what}")
    for name in ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free"):
        check(document["statistics"][name] == torch[name], name)
    check(document["limit_source"] == "releases" and document["options"] == "", f"{document['limit_source']}")


def test_other_options_and_limit():
    document = expect(Place().run("replay", HISTORY, "--conf", "expandable_segments:True", "--limit", "200MiB", "--json"), 0).json()
    check(document["limit"] == 200 << 20 and document["limit_source"] == "given", f"{document['limit']}")
    check(document["statistics"]["inactive_split_bytes"]["peak"] == 0, "expandable segments have no inactive splits")
    check(document["out_of_memory"][0]["operation"] > 0 and document["statistics"]["num_ooms"] > 0, f"{document['out_of_memory'][:1]}")
    text = expect(Place().run("replay", HISTORY, "--limit", "200MiB"), 0).out
    check("out of memory" in text and "the first: operation" in text and "reserved" in text, text)


def test_what_lives_at_the_peak_is_listed_by_who_asked_for_it():
    done = expect(Place().run("replay", DATA / "history_stacks.pickle"), 0)
    check("at the peak, after operation 119: 95.7 MiB in 35 blocks, by the innermost frame outside torch" in done.out, done)
    lines = done.out.split("asked for by\n")[1].splitlines()
    check(lines[0].split() == ["37.0", "MiB", "6", "MmBackward0", "(autograd)"], "the largest first", lines)
    check(lines[1].endswith("/home/someone/my_model.py:11 (forward)"), "the program's own line", lines)
    document = expect(Place().run("replay", DATA / "history_stacks.pickle", "--json"), 0).json()["at_peak"]
    check(sum(each["bytes"] for each in document["by_origin"]) == document["bytes"] == 100372484, document)
    check(document["origins"] == len(document["by_origin"]) == 8 and document["blocks"] == 35, document)
    text = expect(Place().run("replay", DATA / "merge.json"), 0).out
    check("at the peak" not in text, "operations by hand have no stacks", text)
    check("no stack was noted" in expect(Place().run("replay", HISTORY), 0).out, "nor has a history without them")


def test_operations():
    place = Place()
    file = place.path / "ops.json"
    file.write_text('{"ops": [["m", "a", 1], ["m", "b", 513], ["m", "c", 1048576], ["m", "d", 1048064]]}')
    statistics = expect(place.run("replay", file, "--json"), 0).json()["statistics"]
    check(statistics["reserved_bytes"]["current"] == 4194304, f"{statistics['reserved_bytes']}")
    file.write_text('{"ops": [["m", "a", 1]]}')
    text = expect(place.run("replay", file), 0).out
    check("1 allocation, 0 releases" in text, text)


def test_a_pickle_that_would_run_something_is_refused_and_not_run():
    place = Place()
    ran = place.path / "ran"

    class Touch:
        def __reduce__(self):
            import os
            return os.system, (f"touch {ran}",)

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        file = place.path / "evil.pickle"
        file.write_bytes(pickle.dumps({"segments": [], "device_traces": Touch()}, protocol))
        expect_error(place.run("replay", file), 2, "it would run code")
        check(not ran.exists(), "it was run")


def test_what_is_no_recording_is_refused():
    place = Place()
    cut = place.path / "cut.pickle"
    cut.write_bytes(HISTORY.read_bytes()[:9000])
    for arguments in ([cut], [place.path / "none"], [place.path], [HISTORY, "--limit", "0"], [HISTORY, "--limit", "much"],
                      [HISTORY, "--conf", "max_split_size_mb:3"], [HISTORY, "--conf", "nonsense:3"], [HISTORY, "--device", "3"],
                      [DATA / "merge.json", "--conf", "per_process_memory_fraction:0.5"]):
        expect_error(place.run("replay", *arguments), 2)


main(globals())
