"""`import` of CUDA memory snapshots: runs whose peaks are what their events add up to."""
# processors: 1

import pathlib
import pickle
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "cli"))
import _large_snapshot  # noqa: E402
from _shardlab import SOURCE, Place, check, expect, expect_error, main  # noqa: E402

HISTORIES = SOURCE / "tests" / "data" / "allocator"


def peaks(file):
    """Allocated, active and reserved at their highest, event by event."""
    snapshot = pickle.loads(file.read_bytes())
    events = next(trace for trace in snapshot["device_traces"] if trace)
    total = {"allocated": 0, "active": 0, "reserved": 0}
    change = {"alloc": ((1, "allocated"), (1, "active")), "free_requested": ((-1, "allocated"),), "free_completed": ((-1, "active"),),
              "segment_alloc": ((1, "reserved"),), "segment_map": ((1, "reserved"),), "segment_free": ((-1, "reserved"),),
              "segment_unmap": ((-1, "reserved"),)}
    highest = dict(total)
    for event in events:
        for sign, figure in change.get(event["action"], ()):
            total[figure] += sign * event["size"]
            highest[figure] = max(highest[figure], total[figure])
    return highest


def test_peaks_are_what_the_events_add_up_to():
    for name in ("history_default", "history_expandable", "history_max_split", "history_stacks"):
        place = Place()
        document = expect(place.run("import", HISTORIES / f"{name}.pickle", "--json"), 0).json()
        memory, by_hand = document["memory"], peaks(HISTORIES / f"{name}.pickle")
        found = {figure: memory[f"peak_{figure}"] for figure in by_hand}
        check(found == by_hand, f"{name}: {found}, and by hand {by_hand}")
        check(document["step_time_ns"]["median"] is None and document["ranks"] is None and memory["by_class"] is None, f"{document}")
        check(expect(place.run("show", "last", "--json"), 0).json()["memory"] == memory, "another memory is stored")
        for command in (("show", "last"), ("trace", "last"), ("history",)):
            shown = expect(place.run(*command), 0)
            check(" 0 B" not in shown.out and " 0 ns" not in shown.out, "an unknown figure is shown", shown)


def test_a_drawn_snapshot():
    place = Place()
    file = place.path / "drawn.pickle"
    highest = _large_snapshot.write(file, 8, seed=3)
    result = expect(place.run("import", file, "--json", most_memory=1 << 30), 0)
    memory = result.json()["memory"]
    check(memory["peak_allocated"] == highest and memory["peak_reserved"] is None, f"{memory}")
    expect(place.run("replay", file), 0)


def test_memory_is_of_the_events_not_of_the_file():
    place = Place()
    file = place.path / "larger.pickle"
    _large_snapshot.write(file, 60)
    for command in (("import", file), ("replay", file)):
        expect(place.run(*command, most_memory=400 << 20), 0)


def test_snapshots_that_are_none():
    place = Place()
    whole = (HISTORIES / "history_default.pickle").read_bytes()
    for name, content, part in (("cut.pickle", whole[:2000], "pickle is damaged"), ("code.pickle", b"\x80\x04cos\nsystem\n.", "would run code"),
                                ("no.pickle", pickle.dumps({"segments": [], "device_traces": [[], []]}), "has no history"),
                                ("two.pickle", pickle.dumps({"segments": [], "device_traces": [[{"action": "oom"}]] * 2}), "devices 0, 1")):
        (place.path / name).write_bytes(content)
        expect_error(place.run("import", place.path / name), 2, name, part)
    more = pickle.dumps({"segments": [], "device_traces": [[{"action": "segment_free", "addr": 1, "size": 5, "stream": 0},
                                                            {"action": "segment_free", "addr": 1, "size": -5, "stream": 0}]]})
    (place.path / "more.pickle").write_bytes(more)
    expect_error(place.run("import", place.path / "more.pickle"), 2, "is no size")
    expect_error(place.run("import", HISTORIES / "history_default.pickle", "--onto", "x.yaml"), 2, "--onto")


main(globals())
