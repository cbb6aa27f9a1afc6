#!/usr/bin/env bash
# Everything that needs a GPU: builds what is missing, runs it, and writes what was measured to docs/measurements.
# Exit code 77 where there is no device.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
build=${SHARDLAB_BUILD:-$root/build-gpu}
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q .; then
  echo "skipped: no GPU (nvidia-smi lists none)"
  exit 77
fi
# Only the kernels: no libtorch, no window.
if [ ! -x "$build/bin/kernels_equal_host" ]; then
  cmake -S "$root/tests/gpu" -B "$build" -DCMAKE_BUILD_TYPE=Release
  cmake --build "$build" -j
fi
"$build/bin/kernels_equal_host"
machine=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
into="$root/docs/measurements/kernels-$(tr -cs 'A-Za-z0-9' '-' <<<"$machine" | sed 's/-*$//').md"
mkdir -p "$(dirname "$into")"
{
  echo "# Kernels on $machine"
  echo
  echo "$(date -u +%F), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1), $(nvcc --version | tail -n 1), command \`tests/gpu/run_all.sh\`."
  echo
  echo '```'
  "$build/bin/kernel_bandwidth"
  echo '```'
} | tee "$into"
