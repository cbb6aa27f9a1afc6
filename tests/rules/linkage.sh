#!/usr/bin/env bash
# The command line and the window load neither libtorch nor CUDA: plan, simulate and search must start in milliseconds, and an
# out-of-memory of a run must not take the window down. No program looks for libraries in the current folder, where anybody may put one.
set -euo pipefail

first="${SHARDLAB:?the path of the program}"
[ -x "$first" ] || { echo "no $first in this build"; exit 77; }
for program in "$first" "$(dirname "$first")/shardlab-gui"; do
  [ -x "$program" ] || continue  # built without the window
  needed=$(readelf -d "$program" | grep NEEDED)
  echo "$program"
  echo "$needed"
  if grep -E 'libtorch|libc10|libcuda|libnccl|libgloo' <<<"$needed"; then
    echo "$program must not load these"
    exit 1
  fi
done
for program in "$(dirname "$first")"/shardlab*; do
  path=$(readelf -d "$program" | sed -n 's/.*\(RUNPATH\|RPATH\).*\[\(.*\)\]/\2/p')
  case ":$path:" in
    ::) ;;  # none
    *::* | *:.:* | *:./*) echo "$program looks for libraries in the current folder: run path '$path'"; exit 1 ;;
  esac
done
