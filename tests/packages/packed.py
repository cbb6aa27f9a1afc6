"""cpack's archive and Debian package hold what docs/installing.md says, and run where they are unpacked."""

import pathlib
import shutil
import sys
import tempfile

from _hidden import BUILD, SCENARIO, SKIP, make, needs_namespaces, run_hidden, torch_folder
from _shardlab import check, expect, expect_error, main

needs_namespaces()
if not shutil.which("dpkg-shlibdeps") or not shutil.which("cpack") or not (BUILD / "bin/shardlab").exists():
    print("skipped: needs cpack, dpkg-shlibdeps (Debian's dpkg-dev) and the built program")
    sys.exit(SKIP)

FOLDER = tempfile.TemporaryDirectory(prefix="shardlab-packed-")
PLACE = pathlib.Path(FOLDER.name)
make("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", PLACE)
LIBRARIES = ("libfmt", "libyaml-cpp", "libsqlite3", "libxxhash", "libz")


def unpack_archive():
    folder = PLACE / "archive"
    if not folder.exists():
        folder.mkdir()
        make("tar", "-xzf", next(PLACE.glob("*.tar.gz")), "-C", folder)
    return next(folder.iterdir())


def unpack_debian_package():
    folder = PLACE / "debian"
    if not folder.exists():
        make("dpkg-deb", "-x", next(PLACE.glob("*.deb")), folder)
    return folder / "usr"


def test_the_archive_is_one_folder_that_predicts():
    top = unpack_archive()
    check(len(list(top.parent.iterdir())) == 1, f"not one folder: {list(top.parent.iterdir())}")
    expect(run_hidden(top / "bin/shardlab", "simulate", top / SCENARIO), 0)


def test_the_archive_loads_its_own_libraries():
    top = unpack_archive()
    for program in (top / "bin").iterdir():
        loaded = make("env", "LD_TRACE_LOADED_OBJECTS=1", program)
        check("not found" not in loaded, f"{program.name}\n{loaded}")
        for line in loaded.splitlines():
            name = line.split()[0]
            check(not name.startswith(LIBRARIES) or f"=> {program.parent}/../lib/shardlab/" in line, f"not ours: {line}")


def test_the_archive_leaves_the_machines_own_libraries_out():
    for library in (unpack_archive() / "lib/shardlab").iterdir():
        check(not library.name.startswith(("libc.", "libstdc++", "libgcc", "libtorch", "libc10", "libcu", "libGL", "libX")),
              f"{library.name} is packed")


def test_the_archive_trains_where_libtorch_is():
    top = unpack_archive()
    if torch_folder():
        expect(run_hidden(top / "bin/shardlab", "run", top / SCENARIO, "--set", "measure.steps=2", "--json"), 0)


def test_the_debian_package_says_what_it_is_and_needs():
    package = next(PLACE.glob("shardlab_*_*.deb"))
    control = make("dpkg-deb", "-f", package)
    for part in ("Package: shardlab", "Depends: ", "libyaml-cpp", "libsqlite3-0", "libc6 (>= "):
        check(part in control, f"no '{part}' in\n{control}")
    for part in ("torch", "cuda"):
        depends = next(line for line in control.splitlines() if line.startswith("Depends:"))
        check(part not in depends, depends)


def test_the_debian_package_holds_predictions_and_the_window_for_usr():
    usr = unpack_debian_package()
    check([path.name for path in usr.parent.iterdir()] == ["usr"], "something lies outside /usr")
    programs = {path.name for path in (usr / "bin").iterdir()}
    expected = {"shardlab"} | ({"shardlab-gui"} if (BUILD / "bin/shardlab-gui").exists() else set())
    check(programs == expected, f"{programs}")
    copyright = (usr / "share/doc/shardlab/copyright").read_text()
    check("Apache License" in copyright and "CLI11" in copyright, "the licences are incomplete")
    check("shardlab-gui" not in programs or "Dear ImGui" in copyright, "the window's licences are missing")
    expect(run_hidden(usr / "bin/shardlab", "simulate", usr / SCENARIO), 0)


def test_the_debian_package_says_where_real_runs_come_from():
    usr = unpack_debian_package()
    expect_error(run_hidden(usr / "bin/shardlab", "run", usr / SCENARIO), 3, "shardlab-rank", "run.sh")


main(globals())
