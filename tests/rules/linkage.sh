#!/usr/bin/env bash
# The command line loads neither libtorch nor CUDA: plan, simulate and search must start in milliseconds.
set -euo pipefail

program="${SHARDLAB:?the path of the program}"
[ -x "$program" ] || { echo "no $program in this build"; exit 77; }
needed=$(readelf -d "$program" | grep NEEDED)
echo "$needed"
if grep -E 'libtorch|libc10|libcuda|libnccl|libgloo' <<<"$needed"; then
  echo "$program must not load these"
  exit 1
fi
