"""clang-tidy finds nothing in a few files and the headers that they include; .clang-tidy says what it looks for and why.

Only a handful: a file takes seconds. With names of files as arguments it looks at those. Skips where there is no clang-tidy.
"""

import os
import shutil
import subprocess
import sys
import tempfile

SAMPLE = ["engine/base/result.cpp", "engine/base/yaml_builder.cpp", "engine/plan/check.cpp", "gui/session/messages.cpp"]
FLAGS = ["-std=c++20", "-DFMT_SHARED", "-DSPDLOG_COMPILED_LIB", "-DSPDLOG_FMT_EXTERNAL"]
BROKEN = """#include <string>
#include <utility>
struct Hook { virtual ~Hook() = default; virtual void call() {} };
struct Late : Hook { virtual void call() {} };
std::string twice(std::string text) {
  std::string first = std::move(text);
  return first + text;
}
"""

tidy = shutil.which("clang-tidy")
if tidy is None:
    print("skipped: there is no clang-tidy")
    sys.exit(77)
root = os.path.abspath(os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(__file__), "..", ".."))


def run(path):
    command = [tidy, "--quiet", f"--config-file={root}/.clang-tidy", path, "--", *FLAGS, f"-I{root}"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


failures = 0
for name in sys.argv[1:] or SAMPLE:
    result = run(os.path.join(root, name))
    if result.returncode != 0:
        failures += 1
        print(f"{name}:\n{result.stdout[:4000]}{result.stderr[-1000:] if not result.stdout else ''}")
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "broken.cpp")
    with open(path, "w", encoding="utf-8") as file:
        file.write(BROKEN)
    found = run(path).stdout
    for check in ("bugprone-use-after-move", "modernize-use-override"):
        if check not in found:
            failures += 1
            print(f"{check} is not found where it is:\n{found}")
print(f"{len(sys.argv[1:] or SAMPLE)} files, {failures} failures")
sys.exit(1 if failures else 0)
