"""The sources keep the rules of _source_rules.py."""

import os
import sys

import _module_rules
import _source_rules

root = os.environ.get("SHARDLAB_SOURCE") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
files = list(_source_rules.sources(root))
problems = _source_rules.check(root) + _module_rules.check(root) + list(_source_rules.check_rows(root))
for problem in problems:
    print(problem)
print(f"{len(files)} source files, {len(problems)} violations")
sys.exit(1 if problems or not files else 0)
