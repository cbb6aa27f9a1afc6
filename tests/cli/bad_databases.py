"""Databases that are none, belong to others or cannot grow: one message, and the file stays what it was."""
# processors: 1

import sqlite3
import subprocess

from _shardlab import Place, check, expect, expect_error, main


def unharmed(database):
    with sqlite3.connect(database) as connection:
        return connection.execute("PRAGMA integrity_check").fetchone()[0]


def test_a_file_that_is_no_database():
    place = Place()
    scenario = place.scenario()
    for content in (b"this is a text, not a database\n" * 100, b"\0" * 4096, b"SQLite format 3\0" + b"\xff" * 5000):
        place.db.write_bytes(content)
        for arguments in (["simulate", scenario], ["history"], ["show", "last"]):
            result = place.run(*arguments, timeout=30)
            expect_error(result, 2, "runs.db")
            check(place.db.read_bytes() == content, f"{arguments[0]} changed a file that is not its own", result)


def test_another_programs_database():
    place = Place()
    with sqlite3.connect(place.db) as connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    before = place.db.read_bytes()
    expect_error(place.run("simulate", place.scenario()), 2, "runs.db")
    check(place.db.read_bytes() == before, "another program's database was changed")


def test_a_database_from_the_future():
    place = Place()
    expect(place.run("simulate", place.scenario(), "--quiet"), 0)
    connection = sqlite3.connect(place.db)
    connection.execute("PRAGMA user_version = 1000000")
    connection.commit()
    connection.close()
    before = place.db.read_bytes()
    expect_error(place.run("history"), 2, "runs.db", "newer")
    check(place.db.read_bytes() == before, "a newer database was changed")


def test_no_database_yet():
    place = Place()
    for arguments in (["history"], ["show", "last"], ["diff", "1", "2"], ["trace", "1"]):
        expect_error(place.run(*arguments), 2, "runs.db")
    check(not place.db.exists(), "looking made a database")


def test_a_folder_that_cannot_be_made():
    place = Place()
    (place.path / "file").write_text("in the way")
    result = place.run("simulate", place.scenario(), "--db", place.path / "file" / "runs.db")
    check(result.code in (2, 3), "wrong exit code", result)
    check("file" in result.err and result.err.startswith("error: "), "unclear message", result)


def test_a_full_disk_leaves_what_was_there():
    place = Place()
    scenario = place.scenario()
    expect(place.run("simulate", scenario, "--quiet"), 0)
    size = place.db.stat().st_size
    before = expect(place.run("history", "--json"), 0).json()["runs"]
    for room in (0, 4096, 16384):
        result = place.run("simulate", scenario, "--set", "model.overrides.num_hidden_layers=40", largest_file=size + room, timeout=60)
        check(result.code == 3, f"room for {room} bytes: wrong exit code", result)
        check(result.err.startswith("error: ") and "runs.db" in result.err, "unclear message", result)
        check(unharmed(place.db) == "ok", "the database is damaged", result)
        check(expect(place.run("history", "--json"), 0).json()["runs"] == before, "the list of runs changed", result)
    expect(place.run("simulate", scenario, "--quiet"), 0)
    check(len(expect(place.run("history", "--json"), 0).json()["runs"]) == len(before) + 1, "it cannot grow again")


def test_a_full_disk_at_the_first_run():
    place = Place()
    result = place.run("simulate", place.scenario(), largest_file=2048, timeout=60)
    check(result.code == 3, "wrong exit code", result)
    check(result.err.startswith("error: ") and "runs.db" in result.err, "unclear message", result)
    expect(place.run("simulate", place.scenario(), "--quiet"), 0)


def test_two_writers_at_once():
    place = Place()
    scenario = place.scenario()
    expect(place.run("simulate", scenario, "--quiet"), 0)
    writers = [place.start("simulate", scenario, "--quiet") for _ in range(3)]
    for writer in writers:
        out, err = writer.communicate(timeout=60)
        check(writer.returncode == 0, f"a writer failed: {err}{out}")
    check(len(expect(place.run("history", "--json"), 0).json()["runs"]) == 4, "a run is missing")
    check(unharmed(place.db) == "ok", "the database is damaged")


def test_killed_while_writing():
    place = Place()
    scenario = place.scenario()
    expect(place.run("simulate", scenario, "--quiet"), 0)
    for delay in (0.01, 0.03, 0.05, 0.1):
        writer = place.start("simulate", scenario, "--set", "model.overrides.num_hidden_layers=64")
        try:
            writer.wait(timeout=delay)
        except subprocess.TimeoutExpired:
            writer.kill()
        writer.communicate(timeout=30)
        check(unharmed(place.db) == "ok", f"damaged after {delay} s")
        expect(place.run("history", "--json"), 0)


main(globals())
