"""An installation is complete in itself: moved elsewhere, with the sources it was built from out of sight, it predicts and trains."""

import pathlib
import shutil
import sys
import tempfile

from _hidden import BUILD, SCENARIO, SKIP, SOURCE, make, needs_namespaces, run_hidden, torch_folder
from _shardlab import check, expect, expect_error, main

needs_namespaces()
if not (BUILD / "bin/shardlab").exists():
    print("skipped: the program is not built")
    sys.exit(SKIP)

FOLDER = tempfile.TemporaryDirectory(prefix="shardlab-moved-")
PREFIX = pathlib.Path(FOLDER.name) / "after"
make("cmake", "--install", BUILD, "--prefix", PREFIX.parent / "before")
(PREFIX.parent / "before").rename(PREFIX)
PROGRAM = PREFIX / "bin/shardlab"
RUN = ("run", PREFIX / SCENARIO, "--set", "measure.steps=2", "--set", "measure.warmup_steps=1")


def test_the_sources_are_out_of_sight():
    result = run_hidden("/bin/ls", "-A", SOURCE)
    check(result.code == 0 and result.out == "", "the source tree can be seen: this test would prove nothing", result)


def test_predictions():
    result = expect(run_hidden(PROGRAM, "simulate", PREFIX / SCENARIO, "--json"), 0)
    check(result.json()["kind"] == "predicted", "no prediction", result)
    check("llama-3-8b" in expect(run_hidden(PROGRAM, "models"), 0).out, "the shipped models are not listed")


def test_its_own_files_go_before_those_of_the_sources():
    models = PREFIX / "share/shardlab/assets/models"
    shutil.copytree(models / "tiny-llama", models / "installed-only")
    check("installed-only" in expect(run_hidden(PROGRAM, "models", hidden=()), 0).out, "the sources went before")


def test_without_its_share_folder_it_says_where_it_looked():
    alone = PREFIX.parent / "alone/bin"
    alone.mkdir(parents=True)
    shutil.copy2(PROGRAM, alone)
    expect_error(run_hidden(alone / "shardlab", "models"), 3, str(alone.parent / "share/shardlab/assets"), "SHARDLAB_ASSETS")


def test_real_runs():
    if not torch_folder():
        return
    result = expect(run_hidden(PROGRAM, *RUN, "--json"), 0)
    check(result.json()["kind"] == "measured", "no measurement", result)


def test_libtorch_that_is_gone_is_missed_by_name():
    if not torch_folder():
        return
    result = run_hidden(PROGRAM, *RUN, hidden=(SOURCE, torch_folder()))
    expect_error(result, 3, "libtorch_cpu.so", "SHARDLAB_TORCH_DIR", "2.11.0")


def test_libtorch_that_moved_is_given_by_a_variable():
    if not torch_folder():
        return
    with tempfile.TemporaryDirectory(prefix="shardlab-torch-") as place:
        packages = torch_folder().parent  # torch and, beside it, the libraries of CUDA that it loads
        result = run_hidden(PROGRAM, *RUN, hidden=(SOURCE, packages), moved=(packages, place),
                            SHARDLAB_TORCH_DIR=f"{place}/torch")
        expect(result, 0)


def test_the_window_draws():
    window = PREFIX / "bin/shardlab-gui"
    if not window.exists():
        return
    picture = PREFIX.parent / "window.png"
    expect(run_hidden(PROGRAM, "gui", "--screenshot", picture, PREFIX / SCENARIO), 0)
    check(picture.stat().st_size > 1000, "no picture")


main(globals())
