"""What the window is asked for on its command line, and what it cannot be: each ends with one message, before anything is opened."""
# processors: 1

import json
import os
import pathlib

from _watched import Place, check, check_refused, watch

from _shardlab import PROGRAM, main

HAS_WINDOW = (pathlib.Path(PROGRAM).parent / "shardlab-gui").exists()
MOST = 8192  # pixels of a side


def picture(place, *arguments):
    environment = {name: value for name, value in place.environment(XDG_CONFIG_HOME=str(place.path)).items()
                   if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    return watch(place, "gui", "--screenshot", "picture.png", *arguments, env=environment)


def test_a_window_has_no_document():
    """--json prints one document with every command: of this one it is an error, whether or not there is a window in this build."""
    place = Place()
    for arguments in (["gui", "--json"], ["--json", "gui"], ["gui", place.scenario(), "--json", "--screenshot", "picture.png"]):
        refused = watch(place, *arguments)
        check(refused.code == 2, "the exit code is not 2", refused)
        error = json.loads(refused.out)["error"]
        check((error["kind"], error["where"], error["exit_code"]) == ("bad_input", "--json", 2), f"{error}")
        check(error["what"] in refused.err.decode() and "--screenshot" in error["hint"], "stderr says something else", refused)
    check(not os.path.exists(place.path / "picture.png"), "there is a picture all the same")


def test_sizes():
    if not HAS_WINDOW:
        return
    place = Place()
    for size in ("100000x100000", f"{MOST + 1}x900", f"900x{MOST + 1}", "99x900", "900x0", "-900x900", "4294967396x4294967396",
                 "1x99999999999999999999999"):
        check_refused(picture(place, f"--size={size}"), "--size", f"'{size}' is too small or too large", f"100 to {MOST} pixels")
    for size in ("x", "900", "900x", "x900", "900x900x900", "900x900 ", "9e2x900", "0x10x900", "nanxnan", "\x1b[2J"):
        check_refused(picture(place, f"--size={size}"), "--size")
    check(not os.path.exists(place.path / "picture.png"), "there is a picture all the same")
    made = picture(place, "--size", f"{MOST}x100", "--panel", "models")
    check(made.code == 0 and os.path.exists(place.path / "picture.png"), "the largest width", made)


def test_scales():
    if not HAS_WINDOW:
        return
    place = Place()
    for scale in ("nan", "-nan", "NAN", "inf", "-inf", "1e400", "0", "-1", "0.49", "4.01", "1e9"):
        check_refused(picture(place, f"--scale={scale}"), "--scale")
    for scale in ("x", "1,5", "\x1b[2J"):
        check_refused(picture(place, f"--scale={scale}"), "--scale")
    check(not os.path.exists(place.path / "picture.png"), "there is a picture all the same")


main(globals())
