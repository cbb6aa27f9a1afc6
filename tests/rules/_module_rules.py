"""Rules over the modules that scripts of tests share: one name a module, for a script sees the modules of several folders at once."""

import os


def check(root):
    """Violations as lines "file:line: what"."""
    seen = {}
    violations = []
    for folder, subfolders, files in os.walk(os.path.join(root, "tests")):
        subfolders.sort()
        for name in sorted(files):
            if not (name.startswith("_") and name.endswith(".py")):
                continue
            path = os.path.relpath(os.path.join(folder, name), root)
            if name in seen:
                violations.append(f"{path}:1: has the name of {seen[name]}: a script that imports from both folders gets one of them")
            seen.setdefault(name, path)
    return violations
