#!/usr/bin/env bash
# Everything that needs a GPU: builds what is missing, runs it, and writes what was measured to docs/measurements. Exit code 77 where
# there is no device.
#
#   tests/gpu/run_all.sh
#
# The kernels need the CUDA toolkit alone. Training and the comparison with FSDP2 need a built shardlab and a Python with torch and
# transformers: SHARDLAB (default: build/bin/shardlab here) and SHARDLAB_PYTHON (default: python3). What is missing is said and left out.
# Several ranks on one GPU: NCCL 2.30 or newer in SHARDLAB_NCCL_LIBRARY, with NCCL_MULTI_RANK_GPU_ENABLE=1.
set -euo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
build=${SHARDLAB_BUILD:-$root/build-gpu}
export SHARDLAB=${SHARDLAB:-$root/build/bin/shardlab}
export SHARDLAB_PYTHON=${SHARDLAB_PYTHON:-$(command -v python3 || true)}
export PYTHONDONTWRITEBYTECODE=1
if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L 2>/dev/null | grep -q .; then
  echo "skipped: no GPU (nvidia-smi lists none)"
  exit 77
fi
machine=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
slug=$(tr -cs 'A-Za-z0-9' '-' <<<"$machine" | sed 's/-*$//')
results=$root/docs/measurements
mkdir -p "$results"
failed=0

# measured NAME COMMAND...: the command's output, shown and kept with the machine, the versions and the command.
measured() {
  local name=$1 file
  shift
  file=$results/$name-$slug.md
  {
    echo "# $name on $machine"
    echo
    echo "$(date -u +%F), driver $(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)," \
      "$(nvcc --version 2>/dev/null | tail -n 1), $(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo 'no git'), command:" \
      "\`${*/$root\//}\`."
    echo
    echo '```'
  } >"$file"
  local code=0
  "$@" 2>&1 | tee -a "$file" || code=$?
  echo '```' >>"$file"
  if [ "$code" != 0 ] && [ "$code" != 77 ]; then
    echo "FAILED with exit code $code: $*" | tee -a "$file"
    failed=1
  fi
}

if [ ! -x "$build/bin/kernels_equal_host" ]; then
  cmake -S "$root/tests/gpu" -B "$build" -DCMAKE_BUILD_TYPE=Release
  cmake --build "$build" -j
fi
measured kernels_equal_host "$build/bin/kernels_equal_host"
measured kernel_bandwidth "$build/bin/kernel_bandwidth"
if [ -x "$SHARDLAB" ] && [ -x "$SHARDLAB_PYTHON" ]; then
  here=$(dirname "$SHARDLAB")
  if [ -x "$here/operators_equal_host" ]; then
    measured operators_equal_host "$here/operators_equal_host"
  elif [ -x "$here/bin/operators_equal_host" ]; then  # scripts/portable.sh
    measured operators_equal_host env SHARDLAB_PROGRAM=operators_equal_host SHARDLAB_TEST_FAMILIES="$root/tests/data/families" "$SHARDLAB"
  else
    echo "left out: operators_equal_host, which is built with libtorch for CUDA"
  fi
  measured training "$SHARDLAB_PYTHON" "$root/tests/gpu/training.py"
  cluster=$(cd "$root/tests/gpu" && "$SHARDLAB_PYTHON" -c 'import _gpu, json; print(json.dumps(_gpu.cluster(len(_gpu.gpus()))))')
  measured bench "$SHARDLAB" bench --cluster "$cluster"
  mkdir -p "$root/assets/calibration"
  measured calibrate "$SHARDLAB" calibrate --cluster "$cluster" --db "$build/runs.db" \
    --output "$root/assets/calibration/$slug-x$(nvidia-smi -L | wc -l).json"
  measured validate "$SHARDLAB" validate "$root/scenarios/gpu/llama-1b.yaml" --db "$build/runs.db" --set "cluster=$cluster"
  measured compare_fsdp2 "$SHARDLAB_PYTHON" "$root/tests/gpu/compare_fsdp2.py" "$results/compare_fsdp2-$slug.json"
else
  echo "left out: training and the comparison, for which SHARDLAB and SHARDLAB_PYTHON must name programs"
fi
exit "$failed"
