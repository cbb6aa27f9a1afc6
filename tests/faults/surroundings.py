"""Homes, locales and clocks as they should not be; many users of one database; two runs that want one port."""

import errno
import pathlib
import re
import socket
import subprocess
import tempfile
import threading
import time

from _faults import NIGHTLY, Command, Fault, execute, judge, order, stored_runs, Undisturbed
from _shardlab import WITH_TORCH, Place, check, expect, expect_error, main

BUSY = 3600 if NIGHTLY else 8  # seconds of many users on one database


def test_a_home_that_cannot_be_written():
    place = Place()
    scenario = place.scenario()
    (place.path / "file").write_text("in the way")
    for home in ("/proc", "/dev/null/home", str(place.path / "file"), "", "relative"):
        environment = place.environment(HOME=home)
        for name in ("SHARDLAB_DB", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
            environment.pop(name, None)
        result = place.run("simulate", scenario, env=environment)
        expect_error(result, result.code, "--db")
        check(result.code in (2, 3), f"HOME={home}", result)
        expect(place.run("simulate", scenario, "--no-store", env=environment), 0)


def test_a_locale_with_a_decimal_comma():
    place = Place()
    scenario = place.scenario()
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8"], capture_output=True, check=False)
        check(pathlib.Path(folder, "de_DE.UTF-8").exists(), f"no such locale could be made: {made.stderr}")
        comma = place.environment(LOCPATH=folder, LC_ALL="de_DE.UTF-8", LANG="de_DE.UTF-8")
        shown = subprocess.run(["printf", "%.1f", "1,5"], env=comma, capture_output=True, text=True, check=True).stdout
        check(shown == "1,5", f"the locale has no decimal comma: {shown}")
        for arguments in (["simulate", scenario, "--no-store"], ["simulate", scenario, "--no-store", "--json"],
                          ["scenario", scenario, "--write"], ["plan", scenario], ["explain", "time", scenario],
                          ["export", scenario, "--to", "all", "--print", "--accept", "all"], ["lesson", "--check"]):
            one, other = place.run(*arguments), place.run(*arguments, env=comma)
            said = [re.sub(r"in [0-9.,]+ s", "", result.out) for result in (one, other)]
            check(one.code == other.code and said[0] == said[1], f"{arguments[0]} answers otherwise", other)
        if WITH_TORCH:
            expect(place.run("run", scenario, "--quiet", env=comma), 0)


def trained(place):
    return ["run", place.scenario(), "--quiet"]


def test_a_clock_that_jumps():
    commands = [("simulate", Command("simulates", lambda place: ["simulate", place.scenario(), "--quiet"], stores=True))]
    if WITH_TORCH:
        commands += [("the launcher", Command("launcher", trained, stores=True, limit=60)),
                     ("rank 1", Command("rank", trained, stores=True, program="shardlab-rank", rank=1, limit=60))]
    for name, command in commands:
        undisturbed = Undisturbed(command)
        jumps = undisturbed.counts["clock_gettime"]
        for at in sorted({1, max(1, jumps // 2), max(1, jumps - 1)}):
            for how in ("0", "0 onwards"):
                fault = Fault("clock_gettime", at, how)
                judge(command, undisturbed, execute(command, fault), fault, as_if_nothing=True)
        print(f"        {name}: {jumps} readings of the date")


def test_ten_writers_and_a_reader():
    place = Place()
    scenario = place.scenario()
    expect(place.run("simulate", scenario, "--quiet"), 0)
    end = time.monotonic() + BUSY
    stored, troubles, read = [0] * 10, [], [0]

    def write(index):
        while time.monotonic() < end:
            result = place.run("simulate", scenario, "--quiet", timeout=120)
            if result.code == 0:
                stored[index] += 1
            else:
                troubles.append(f"{result}")

    def look():
        seen = 0
        while time.monotonic() < end:
            runs = expect(place.run("history", "--json", timeout=120), 0).json()["runs"]
            if len(runs) < seen:
                troubles.append(f"{seen} runs, then {len(runs)}")
            seen, read[0] = len(runs), read[0] + 1

    threads = [threading.Thread(target=write, args=(index,)) for index in range(10)] + [threading.Thread(target=look)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(f"        {sum(stored)} runs stored by ten writers in {BUSY} s, read {read[0]} times")
    check(not troubles, f"{len(troubles)} troubles, the first: {troubles[:1]}")
    check(len(stored_runs(place.db)) == sum(stored) + 1, "runs are missing")
    check(min(stored) > 0, f"a writer starved: {stored}")


def test_two_runs_on_one_port():
    """The second says that the port is taken, or waits in vain for its own ranks; the first is not disturbed."""
    if not WITH_TORCH:
        return
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        port = server.getsockname()[1]
    places = [Place(), Place()]
    scenarios = {place: place.scenario(steps=200, extra="launch: {timeout: 10s}\n") for place in places}

    def start(place, rank):
        variables = dict(RANK=str(rank), WORLD_SIZE="2", LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        return place.start("run", scenarios[place], "--quiet", env=place.environment(**variables))

    first = [start(places[0], rank) for rank in range(2)]
    time.sleep(1)
    second = [start(places[1], rank) for rank in range(2)]
    ended = [(process.communicate(timeout=120), process.returncode) for process in first + second]
    check([code for _, code in ended[:2]] == [0, 0], f"the first run was disturbed: {ended[:2]}")
    for (_, err), code in ended[2:]:
        check(code in (0, 2, 3, 4), f"code {code}: {err}")
        check(code == 0 or err.startswith("error: "), f"no message: {err}")
    print(f"        the second run ended with {[code for _, code in ended[2:]]}: {ended[2][0][1].splitlines()[:1]}")


def test_a_full_disk_keeps_a_finished_training():
    """The database cannot grow when the ranks have finished: the run is kept, and stored once there is room."""
    if not WITH_TORCH:
        return
    place = Place()
    scenario = place.scenario()
    expect(place.run("simulate", scenario, "--quiet"), 0)
    command = Command("trains", lambda other: ["run", other.scenario(), "--quiet"], limit=60)
    undisturbed = Undisturbed(command)
    writes = undisturbed.counts["pwrite"]
    check(writes > 0, "the launcher writes no database")
    for at in (writes // 2, writes - 1):
        full = order(place.path / "counts", Fault("pwrite", at, f"{errno.ENOSPC} onwards"), command.program)
        result = place.run("run", scenario, "--quiet", timeout=60, env=place.environment(**full))
        if result.code == 0:
            continue
        check(result.code == 3 and "shardlab import" in result.err, "the run is not kept", result)
        folder = result.err.split("shardlab import ")[1].split("`")[0]
        before = len(stored_runs(place.db))
        expect(place.run("import", folder), 0)
        check(len(stored_runs(place.db)) == before + 1, "it was not stored")
        shown = expect(place.run("show", "last", "--json"), 0).json()
        check(shown["kind"] == "measured" and len(shown["losses"]) == 4, f"another run: {shown}")
        return
    check(False, "no write failed")


main(globals())
