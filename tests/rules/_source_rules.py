"""Rules over the sources: who may include whom, which folder may know which library, one name a file, comments.

check(root) returns the violations as lines "file:line: what". No dependencies beyond Python itself.
"""

import os
import re

import _comment_rules
import _opening_rules
import _type_rules
import _word_rules

# A layer is a folder (the longest matching path counts) and what it may include besides itself and what those may.
LAYERS = {
    "engine/base": [],
    "engine/kernels": [],
    "engine/hardware": ["engine/base"],
    "engine/model": ["engine/base"],
    "engine/strategies/strategy_list.h": [],
    "engine/scenario": ["engine/hardware", "engine/model", "engine/strategies/strategy_list.h"],
    "engine/plan": ["engine/scenario"],
    "engine/passes": ["engine/plan"],
    "engine/reasons": ["engine/plan"],
    "engine/strategies": ["engine/passes", "engine/reasons"],
    "engine/planner": ["engine/strategies"],
    "engine/trace": ["engine/plan"],
    "engine/report": ["engine/trace", "engine/strategies"],
    "engine/store": ["engine/plan", "engine/trace"],
    "engine/machine": ["engine/base"],
    "engine/doctor": ["engine/trace", "engine/machine"],
    "engine/lessons": ["engine/plan"],
    "engine/pictures": ["engine/trace"],
    "engine/formats": ["engine/scenario", "engine/trace"],
    "engine/imports": ["engine/formats", "engine/planner", "engine/report"],
    "engine/checkpoint": ["engine/plan"],
    "engine/execute": ["engine/plan", "engine/trace"],
    "engine/execute/no_torch": ["engine/execute"],
    "engine/execute/torch": ["engine/execute", "engine/checkpoint", "engine/kernels"],
    "simulator/alternatives": ["simulator", "engine/report"],
    "simulator/backtest": ["simulator", "engine/report"],
    "simulator/exports": ["simulator/alternatives", "engine/formats"],
    "simulator/lessons": ["simulator", "engine/formats", "engine/lessons", "engine/pictures", "engine/report"],
    "simulator/remedies": ["simulator", "simulator/alternatives", "engine/doctor", "engine/report"],
    "simulator/search/question": ["simulator", "simulator/alternatives", "engine/report"],
    "simulator/search": ["simulator/search/question"],
    "simulator/search/report": ["simulator/search"],
    "simulator/memory/caching_allocator": ["engine/base"],
    "simulator/memory/replay": ["simulator/memory/caching_allocator"],
    "simulator/network": ["engine/hardware"],
    "simulator": ["engine/planner", "engine/trace", "engine/execute", "simulator/memory/caching_allocator", "simulator/network"],
    "gui/imgui_config": [],
    "gui/view_model": ["engine/report", "engine/store", "engine/execute", "engine/formats", "simulator"],
    "gui/view_model/player": ["gui/view_model", "engine/pictures"],
    "gui/view_model/lessons": ["gui/view_model", "simulator", "simulator/lessons"],
    "gui/view_model/words": ["gui/view_model", "simulator", "simulator/lessons"],
    "gui/view_model/search": ["gui/view_model", "simulator", "simulator/search/report"],
    "gui/view_model/doctor": ["gui/view_model", "engine/doctor"],
    "gui/view_model/exports": ["gui/view_model", "simulator/exports"],
    "gui/session": ["gui/view_model", "engine/report", "engine/store", "engine/doctor", "engine/formats", "engine/imports", "simulator",
                    "simulator/alternatives", "simulator/remedies", "gui/view_model/words"],
    "gui/widgets": ["gui/view_model", "gui/view_model/words"],
    "gui/shell": ["gui/session", "gui/widgets"],
    "gui/panels": ["gui/shell", "gui/view_model/doctor", "gui/view_model/exports", "gui/view_model/lessons", "gui/view_model/player",
                   "gui/view_model/search"],
    "gui/app": ["gui/panels"],
    "engine/cli": ["engine/report", "engine/store", "engine/doctor", "engine/machine", "engine/formats", "engine/imports", "engine/checkpoint", "simulator", "simulator/alternatives",
                   "simulator/remedies", "simulator/exports",
                   "simulator/backtest", "simulator/lessons", "simulator/search/report", "simulator/memory/replay"],
}

# A program's main file sits above its folder: it may include everything that its program links.
MAINS = {
    "engine/execute/torch/rank_main.cpp": ["engine/planner", "engine/execute/torch"],
    "engine/execute/no_torch/rank_main.cpp": ["engine/planner", "engine/execute/no_torch"],
}

TORCH_TESTS = ["tests/training", "tests/unit/execute/torch", "tests/unit/execute/cuda", "tests/gpu", "tests/peers/caching_allocator"]
# (what, pattern of the include, folders that may)
LIBRARIES = [
    ("libtorch, Gloo, NCCL or CUDA",
     re.compile(r"^(ATen|c10|torch|caffe2|gloo|thrust|cub)/|^(nccl|cuda|cublas|cudnn|cupti|nvml|nvtx)\w*\.h$|^nvtx3/"),
     ["engine/execute/torch", "engine/kernels/cuda"] + TORCH_TESTS),
    ("SQLite", re.compile(r"^(sqlite3(ext)?\.h$|SQLiteCpp/)"), ["engine/store", "tests/store", "tests/unit/store"]),
    ("ImGui", re.compile(r"^(imgui|implot|TextEditor)"), ["gui/panels", "gui/widgets", "gui/shell", "gui/app", "tests/gui"]),
]
# Libraries whose headers cost seconds in every file that includes them: a header of ours that does so passes that on to all its users.
HEAVY = re.compile(r"^(nlohmann/json\.hpp|CLI/|ATen/|torch/|c10/)")
# Headers that may all the same, with what they cannot do without.
HEAVY_HEADERS = {
    "engine/execute/torch": "interfaces of code that is made of tensors, below one precompiled header",
    "tests": "helpers of tests, each for a few of them",
}
SLOW_HEADERS = {"torch/torch.h": "12 seconds in every file: include what is used, or ATen/ATen.h"}

# Folders whose files carry the names of another folder's on purpose.
MIRRORS = [
    ("engine/model/operators/", "engine/execute/torch/operators/"),
    ("engine/execute/no_torch/", "engine/execute/torch/"),
    ("engine/execute/torch/no_cuda/", "engine/execute/torch/cuda/"),
]
# Names that say what a file is in its folder rather than what it is about.
SHARED_NAMES = {"registry.h", "registry.cpp"}

# The facts of a strategy stand in its folder and belong to the scenario, which asks for them.
FACTS = re.compile(r"^engine/strategies/\w+/\w+_facts\.cpp$")

# A strategy is one folder and one line of this list; nobody else asks for it by its name.
STRATEGY_LIST = "engine/strategies/strategy_list.h"
LISTED = re.compile(r"^\s*(?:BUILT|KNOWN)\((\w+)\)", re.MULTILINE)
ORDINARY_WORDS = {"none", "native"}  # names that other settings have too: only comparisons with a strategy count
# Who may name strategies, and why.
NAMES_STRATEGIES = {
    "engine/scenario/keys/parallel_keys.cpp": {"ddp"},  # the section of that name
    "engine/scenario/cluster_scenario.cpp": {"fsdp2"},  # of a scenario whose cluster alone matters
    "simulator/calibrate/calibration_work.cpp": {"ddp", "fsdp2"},  # what it trains
}
LITERAL_OR_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//.*')
COMPARED = re.compile(r'strategy[\w.()>-]*\s*[!=]=\s*"(\w+)"|"(\w+)"\s*[!=]=\s*[\w.()>-]*strategy')
# An operator is known by its constant, k_<name>; its name is text for files and for people.
OPERATOR_LIST = "engine/model/operators/operator_list.h"
OPERATOR_FILES = ["engine/model/operators", "engine/execute/torch/operators", "engine/execute/torch/cuda/operators"]
# Words of other vocabularies that happen to be an operator's name: (file, word).
OTHER_WORDS = {
    ("engine/model/families/read_rope.cpp", "linear"),    # rope_type of config.json
    ("engine/model/families/config_fields.cpp", "gelu"),  # activations of config.json
    ("engine/model/families/config_fields.cpp", "silu"),
    ("engine/execute/step_scalars.cpp", "linear"),       # a schedule of the learning rate
}

SOURCE = re.compile(r"\.(h|cpp|cu|cuh)$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def inside(path, folder):
    return path == folder or path.startswith(folder + "/")


def layer_of(path):
    """The longest layer that holds the file, or None."""
    if FACTS.match(path):
        return "engine/scenario"
    return max((layer for layer in LAYERS if inside(path, layer)), key=len, default=None)


def closure(layers):
    """The layers and everything they may include."""
    seen, todo = set(), list(layers)
    while todo:
        layer = todo.pop()
        if layer not in seen:
            seen.add(layer)
            todo += LAYERS[layer]
    return seen


def sources(root):
    for top in ("engine", "simulator", "gui", "tests"):
        for folder, subfolders, files in os.walk(os.path.join(root, top)):
            subfolders.sort()
            for name in sorted(files):
                if SOURCE.search(name):
                    yield os.path.relpath(os.path.join(folder, name), root)


def check_direction(path, target):
    own = layer_of(path)
    other = layer_of(target)
    if own is None or other is None or own == other:
        return None
    if other in closure(MAINS.get(path, [own])):
        return None
    return f"{own} may not include {other} ({target})"


def check_library(path, target):
    if target in SLOW_HEADERS:
        return f"{target}: {SLOW_HEADERS[target]}"
    for what, pattern, allowed in LIBRARIES:
        if pattern.search(target) and not any(inside(path, folder) for folder in allowed):
            return f"only {', '.join(allowed)} may include {what} ({target})"
    return None


def check_weight(path, target):
    if path.endswith(".h") and HEAVY.search(target) and not any(inside(path, folder) for folder in HEAVY_HEADERS):
        return f"a header outside {', '.join(HEAVY_HEADERS)} may not include {target}: name its types instead, and include it in the .cpp"
    return None


def check_file(root, path):
    """Violations of one file's includes, and of #pragma once in a header."""
    with open(os.path.join(root, path), encoding="utf-8") as file:
        lines = file.read().splitlines()
    if path.endswith(".h") and "/gloo_shim/" not in path and "#pragma once" not in lines:
        yield f"{path}:1: a header starts with #pragma once"
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        quoted, target = match.group(1) == '"', match.group(2)
        if quoted and not os.path.exists(os.path.join(root, target)):
            yield f'{path}:{number}: "{target}" is not a path from the root of the tree'
        for problem in (check_direction(path, target), check_library(path, target), check_weight(path, target)):
            if problem:
                yield f"{path}:{number}: {problem}"


def operator_names(root):
    path = os.path.join(root, OPERATOR_LIST)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^  OPERATOR\((\w+), ", file.read(), flags=re.M)


def comparison_with(names):
    """A text compared with one of the names, or with a probe's or file's name that begins with it."""
    name = rf'"(?P<name{{}}>{"|".join(names)})(?:\.[^"]*)?"'
    return re.compile(
        rf"[=!]=\s*{name.format(1)}|{name.format(2)}\s*[=!]="
        rf"|(?:find|contains|starts_with|ends_with|compare|equal)\w*\([^()]*{name.format(3)}"
        rf"|\bfor\s*\([^;]*:\s*\{{[^}}]*{name.format(4)}")


def check_operator_names(root, paths):
    """No operator's name is compared as text outside its own files."""
    names = operator_names(root)
    if not names:
        return
    pattern = comparison_with(names)
    for path in paths:
        if path.startswith("tests/") or any(inside(path, folder) for folder in OPERATOR_FILES):
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read()
        for match in pattern.finditer(text):
            word = next(name for name in match.groups() if name)
            if (path, word) not in OTHER_WORDS:
                line = text.count("\n", 0, match.end()) + 1
                yield f"{path}:{line}: compares with the operator's name '{word}': compare with k_{word}, or let its type say it"


def mirrored(a, b):
    """Whether one file is meant to carry the other's name."""
    def related(x, y):
        return any(x.startswith(left) and y.startswith(right) for left, right in MIRRORS)
    return related(a, b) or related(b, a)


def check_names(paths):
    """A name means one file: outside tests no two source files share theirs, except declared mirrors."""
    seen = {}
    for path in paths:
        if path.startswith("tests/") or "/gloo_shim/" in path:
            continue
        if os.path.basename(path) in SHARED_NAMES:
            continue
        for earlier in seen.setdefault(os.path.basename(path), []):
            if not mirrored(earlier, path):
                yield f"{path}:1: has the name of {earlier}"
        seen[os.path.basename(path)].append(path)


def check_layers(paths):
    """Every source of the product belongs to a layer, so that a new folder is given a direction."""
    for path in paths:
        if not path.startswith("tests/") and layer_of(path) is None:
            yield f"{path}:1: in no layer of tests/rules/_source_rules.py"


def check_rows(root):
    """No row of the tables above is about a folder, or a file, that is no more."""
    folders = set(LAYERS) | {folder for _, _, allowed in LIBRARIES for folder in allowed}
    folders |= {folder for pair in MIRRORS for folder in pair}
    for folder in sorted(folders):
        if not os.path.exists(os.path.join(root, folder)):
            yield f"tests/rules/_source_rules.py:1: a row is about {folder}, which is no folder"
    yield from _word_rules.check_rows(root)
    yield from _opening_rules.check_rows(root)


def strategy_names(root):
    """Those of the list; none where there is no list."""
    path = os.path.join(root, STRATEGY_LIST)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return LISTED.findall(file.read())


def check_strategy_names(root, paths):
    """No strategy's name in a text or a comparison outside the folders of strategies and the tests."""
    names = strategy_names(root)
    own = [name for name in names if name not in ORDINARY_WORDS]
    if not own:
        return
    mentioned = re.compile(r"(?<![\w.-])(" + "|".join(own) + r")(?![\w.-])")
    for path in paths:
        in_folder = path.startswith("engine/strategies/") and path.count("/") > 2
        if path.startswith("tests/") or in_folder:
            continue
        with open(os.path.join(root, path), encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                code = LITERAL_OR_COMMENT.sub(lambda match: match.group(1) or "", line)
                literals = (match.group(1) or "" for match in LITERAL_OR_COMMENT.finditer(line))
                found = {name for literal in literals for name in mentioned.findall(literal)}
                for left, right in COMPARED.findall(code):
                    found |= {left or right} & set(names)
                for name in sorted(found - NAMES_STRATEGIES.get(path, set())):
                    yield f"{path}:{number}: names the strategy {name}: ask its facts (engine/scenario/strategy_facts.h)"


def check(root):
    paths = list(sources(root))
    violations = [problem for path in paths for problem in check_file(root, path)]
    violations += check_strategy_names(root, paths)
    violations += check_operator_names(root, paths)
    violations += _word_rules.check(root, paths)
    violations += _comment_rules.check(root, paths)
    violations += _opening_rules.check(root, paths)
    violations += _type_rules.check(root, paths)
    return violations + list(check_names(paths)) + list(check_layers(paths))
