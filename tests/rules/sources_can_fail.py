"""Each rule of _source_rules.py finds its violation in a tree made for it, and nothing in a clean one."""

import os
import sys
import tempfile

import _source_rules

HEADER = "#pragma once\n"
CLEAN = {
    "engine/base/result.h": HEADER + "#include <string>\n",
    "engine/plan/plan.h": HEADER + '#include "engine/base/result.h"\n',
    "engine/model/operators/rope.cpp": '#include "engine/base/result.h"\n',
    "engine/execute/torch/operators/rope.cpp": '#include <ATen/ATen.h>\n#include "engine/plan/plan.h"\n',
    "engine/strategies/ddp.h": HEADER,
    "engine/execute/torch/rank_main.cpp": '#include "engine/strategies/ddp.h"\n',
    "engine/store/run_store.cpp": "#include <SQLiteCpp/SQLiteCpp.h>\n",
    "simulator/core/clock.h": HEADER + '#include "engine/plan/plan.h"\n',
    "engine/cli/main.cpp": '#include "simulator/core/clock.h"\n',
    "tests/training/steps_test.cpp": "#include <torch/types.h>\n",
    "engine/base/direction.h": HEADER + "template <>\ninline constexpr auto k_words<Direction> =\n"
                               '    std::to_array<Word<Direction>>({{Direction::up, "up"},\n'
                               '                                    {Direction::down, "down"}});\n',
    "engine/base/direction.cpp": 'bool up(Direction d) { return d == Direction::up; }  // "up" == "up"\n'
                                 'bool left(Text t) { return t == "left"; }\n'
                                 'bool ups(Text strategy) { return strategy == "up"; }\n',
    "tests/unit/base/direction_test.cpp": 'bool up = to_string(d) == "up";\n',
}

# (what the report must say, the file that breaks the rule, its text)
BROKEN = [
    ("engine/base may not include engine/plan", "engine/base/hash.cpp", '#include "engine/plan/plan.h"\n'),
    ("engine/plan may not include engine/strategies", "engine/plan/a.cpp", '#include "engine/strategies/ddp.h"\n'),
    ("engine/strategies may not include simulator", "engine/strategies/b.cpp", '#include "simulator/core/clock.h"\n'),
    ("simulator may not include engine/execute/torch", "simulator/core/c.cpp",
     '#include "engine/execute/torch/rank.h"\n'),
    ("engine/execute/torch may not include engine/strategies", "engine/execute/torch/d.cpp",
     '#include "engine/strategies/ddp.h"\n'),
    ("may include libtorch", "simulator/core/e.cpp", "#include <ATen/ATen.h>\n"),
    ("may include libtorch", "engine/checkpoint/f.cpp", "  #  include <torch/csrc/autograd/variable.h>\n"),
    ("may include libtorch", "engine/cli/g.cpp", "#include <nccl.h>\n"),
    ("may include libtorch", "engine/execute/h.cpp", "#include <cuda_runtime.h>\n"),
    ("may include SQLite", "engine/report/i.cpp", "#include <sqlite3.h>\n"),
    ("may include SQLite", "engine/cli/j.cpp", "#include <SQLiteCpp/Database.h>\n"),
    ("may include ImGui", "gui/session/k.cpp", "#include <imgui.h>\n"),
    ("torch/torch.h", "engine/execute/torch/l.cpp", "#include <torch/torch.h>\n"),
    ("may not include nlohmann/json.hpp", "engine/model/p.h", HEADER + "#include <nlohmann/json.hpp>\n"),
    ("may not include CLI/App.hpp", "engine/cli/q.h", HEADER + "#include <CLI/App.hpp>\n"),
    ("is not a path from the root", "engine/plan/m.cpp", '#include "plan.h"\n'),
    ("starts with #pragma once", "engine/plan/n.h", "#include <string>\n"),
    ("has the name of", "simulator/core/result.h", HEADER),
    ("has the name of", "engine/trace/rope.cpp", "\n"),
    ("in no layer", "engine/extras/o.cpp", "\n"),
    ('compares text with "down"', "simulator/core/p.cpp", 'bool down(Text t) { return t == "down"; }\n'),
    ('compares text with "up"', "gui/app/q.h", HEADER + 'inline bool up(Text t) { return "up" != t; }\n'),
]


def violations(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return _source_rules.check(root)


failures = [f"a clean tree: {problem}" for problem in violations(CLEAN)]
for expected, path, text in BROKEN:
    found = violations({**CLEAN, "engine/execute/torch/rank.h": HEADER, path: text})
    if not any(problem.startswith(path + ":") and expected in problem for problem in found):
        failures.append(f"not found: {expected} in {path}; reported {found}")
    if any(not problem.startswith(path + ":") for problem in found):
        failures.append(f"{path}: other files are blamed too: {found}")
with tempfile.TemporaryDirectory() as empty:
    if not any("a row is about engine/base" in problem for problem in _source_rules.check_rows(empty)):
        failures.append("a row about a folder that is no more is not found")
for failure in failures:
    print(failure)
print(f"{len(BROKEN)} violations tried, {len(failures)} failures")
sys.exit(1 if failures else 0)
