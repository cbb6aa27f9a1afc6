"""Each rule of _source_rules.py finds its violation in a tree made for it, and nothing in a clean one."""

import os
import sys
import tempfile

import _module_rules
import _source_rules

HEADER = "#pragma once\n"
CLEAN = {
    "engine/base/result.h": HEADER + "#include <string>\n",
    "engine/plan/plan.h": HEADER + '#include "engine/base/result.h"\n',
    "engine/model/operators/rope.cpp": '#include "engine/base/result.h"\n',
    "engine/model/operators/operator_list.h": HEADER + "#define OPERATORS(OPERATOR) \\\n  OPERATOR(rope, own) \\\n  OPERATOR(linear, own)\n",
    "engine/model/families/read_rope.cpp": 'bool scaled = type == "linear";\n',
    "engine/model/operators/linear.cpp": 'bool own = name == "linear";\n',
    "engine/execute/torch/operators/rope.cpp": '#include <ATen/ATen.h>\n#include "engine/plan/plan.h"\n',
    "engine/strategies/ddp.h": HEADER,
    "engine/strategies/strategy_list.h": HEADER + "#define LIST(BUILT, KNOWN) \\\n  BUILT(none) \\\n  BUILT(ddp) \\\n  KNOWN(zero1)\n",
    "engine/strategies/ddp/ddp_reasons.cpp": 'const char* text = "ddp averages, unlike zero1";\n',
    "engine/scenario/strategy_facts.cpp": '#include "engine/strategies/strategy_list.h"\nconst char* key = "parallel.ddp.bucket";\n',
    "engine/strategies/ddp/ddp_facts.cpp": '#include "engine/base/result.h"\n',
    "engine/report/checkpoint.cpp": 'bool keeps(const S& spec) { return spec.checkpoint == "none"; }  // "ddp"\n',
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
    "engine/base/count.h": HEADER + "// Offers two counts,\n// of bytes and of ranks.\ninline constexpr int k_bytes = 2;  // of a rank\n",
    "engine/base/row.h": HEADER + "namespace shardlab {\nstruct Row {\n  int x;\n};\n}\n",
    "engine/base/named_row.h": HEADER + "namespace shardlab {\nstruct Row;\n}\nnamespace shardlab::view {\nstruct Row {\n  int x;\n};\n}\n",
    "engine/base/input_file.cpp": "int file = ::open(name, flags);\n",
    "engine/report/rows.cpp": "auto file = InputFile::open(name, kind);  // and no std::ifstream\n",
    "tests/cli/_drawn.py": "",
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
    ("has the name of", "tests/peers/_drawn.py", ""),
    ("in no layer", "engine/extras/o.cpp", "\n"),
    ("names the strategy ddp", "engine/report/p.cpp", 'bool sends(const S& s) { return s.name == "ddp"; }\n'),
    ("names the strategy zero1", "gui/session/q.cpp", 'const char* hint = "remove it, or use zero1";\n'),
    ("names the strategy none", "engine/scenario/r.cpp", 'bool alone(const S& s) { return s.parallel.strategy == "none"; }\n'),
    ("names the strategy none", "engine/strategies/s.cpp", 'bool alone(const S& s) { return "none" != s.strategy; }\n'),
    ("engine/scenario may not include engine/strategies", "engine/strategies/ddp/t_facts.cpp",
     '#include "engine/strategies/ddp.h"\n'),
    ("the operator's name 'rope'", "engine/report/p.cpp", 'bool is_rope = op.type->name == "rope";\n'),
    ("the operator's name 'linear'", "engine/report/q.cpp", 'bool is = operation.find("linear") != 0;\n'),
    ("the operator's name 'rope'", "simulator/core/r.cpp", 'for (const char* name : {"copy",\n  "rope"}) add(name);\n'),
    ("the operator's name 'rope'", "engine/report/s.cpp", 'bool is = probe.starts_with("rope.forward");\n'),
    ('compares text with "down"', "simulator/core/p.cpp", 'bool down(Text t) { return t == "down"; }\n'),
    ('begins with "Of"', "engine/plan/r.cpp", "int parts();\n  // Of a buffer: how many.\n"),
    ('begins with "Of"', "tests/unit/base/s_test.cpp", "int parts = 2;  // Of a buffer.\n"),
    ("finds a part of a plan by its name", "simulator/core/s.cpp", "if (plan.streams[i].name == name) return i;\n"),
    ("finds a part of a plan by its name", "engine/report/t.cpp", "bool sums(C c) { return c.step.buffer(c.writes.front()).name == k_sums; }\n"),
    ("finds a part of a plan by its name", "engine/report/u.cpp", "bool norms(const Buffer& buffer) { return buffer.name.starts_with(k_norms); }\n"),
    ("a type called Row is also in engine/base/row.h", "simulator/core/v.h", HEADER + "namespace shardlab {\nclass Row final : Base {\n};\n}\n"),
    ("opens a file", "engine/report/v.cpp", "std::ifstream stream(file);\n"),
    ("opens a file", "gui/session/w.cpp", "std::FILE* file = std::fopen(name, mode);\n"),
    ("opens a file", "engine/cli/x.cpp", "const int descriptor = ::open(name, O_RDONLY);\n"),
    ('compares text with "up"', "gui/app/q.h", HEADER + 'inline bool up(Text t) { return "up" != t; }\n'),
]


def violations(files):
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        return _source_rules.check(root) + _module_rules.check(root)


failures = [f"a clean tree: {problem}" for problem in violations(CLEAN)]
for expected, path, text in BROKEN:
    found = violations({**CLEAN, "engine/execute/torch/rank.h": HEADER, path: text})
    if not any(problem.startswith(path + ":") and expected in problem for problem in found):
        failures.append(f"not found: {expected} in {path}; reported {found}")
    if any(not problem.startswith(path + ":") for problem in found):
        failures.append(f"{path}: other files are blamed too: {found}")
with tempfile.TemporaryDirectory() as empty:
    for gone in ("engine/base", "engine/plan/parse_text.cpp", "engine/base/input_file.cpp"):
        if not any(f"a row is about {gone}," in problem for problem in _source_rules.check_rows(empty)):
            failures.append(f"a row about {gone}, which is no more, is not found")
for failure in failures:
    print(failure)
print(f"{len(BROKEN)} violations tried, {len(failures)} failures")
sys.exit(1 if failures else 0)
