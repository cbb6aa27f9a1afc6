#!/usr/bin/env bash
# The first minutes on a GPU machine, in stages of eight to ten minutes. Each step has a limit; what is finished is kept.
#
#   tests/gpu/first_hour.sh A [STEP...]    one rank: does it live? (the default)
#   tests/gpu/first_hour.sh B [STEP...]    several ranks on this GPU
#   tests/gpu/first_hour.sh C [STEP...]    speed, beside Python's FSDP2
#   tests/gpu/first_hour.sh D [STEP...]    predictions
#   tests/gpu/first_hour.sh E [STEP...]    PyTorch itself beside predictions
#
# SHARDLAB: the program (scripts/portable.sh makes a folder with all that a bare machine lacks). SHARDLAB_PYTHON: Python with torch 2.11 and
# transformers (default: python3). RESULTS: where results go (default: $OUT, else build-gpu/first-hour-STAGE): results.tar.gz and table.txt,
# written anew after every step. B needs NCCL 2.30 or newer in SHARDLAB_NCCL_LIBRARY. SHARDLAB_REHEARSE=1: all of it on processors, small,
# with SHARDLAB=build/rehearsal/shardlab, which has a processor in the place of the GPU.
set -uo pipefail
root=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../..")
stage=${1:-A}
[[ $stage =~ ^[ABCDE]$ ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
if [ -z "${SHARDLAB_REHEARSE:-}" ] && ! nvidia-smi -L 2>/dev/null | grep -q .; then
  echo "skipped: no GPU (nvidia-smi lists none)"
  exit 77
fi
shift || true
only=("$@")
export SHARDLAB=${SHARDLAB:-$root/build/bin/shardlab} SHARDLAB_PYTHON=${SHARDLAB_PYTHON:-$(command -v python3)}
export PYTHONDONTWRITEBYTECODE=1
RESULTS=${RESULTS:-${OUT:-$root/build-gpu/first-hour-$stage}}
. "$root/tests/gpu/_steps.sh"
cd "$root/tests/gpu" || exit 1

# A program beside SHARDLAB, or within the portable folder, where its wrapper finds the libraries.
program() {
  local here
  here=$(dirname "$SHARDLAB")
  if [ -x "$here/bin/$1" ]; then
    env SHARDLAB_PROGRAM="$1" SHARDLAB_TEST_FAMILIES="$root/tests/data/families" "$SHARDLAB"
  elif [ -x "$here/$1" ]; then
    "$here/$1"
  else
    echo "$1 is not here"
    return 77
  fi
}
export -f program
export root files

python() { "$SHARDLAB_PYTHON" "$@"; }
export -f python

# Needs a program of its own: within the portable folder its wrapper finds the libraries.
operators() {
  local here
  here=$(dirname "$SHARDLAB")
  export SHARDLAB_PROGRAM=operators_equal_host SHARDLAB_TEST_FAMILIES=$root/tests/data/families
  if [ -x "$here/bin/operators_equal_host" ]; then python _operators.py "$SHARDLAB"; else program operators_equal_host; fi
}
export -f operators

stage_a() {
  step machine 20 bash _machine.sh
  beside kernels_equal_host 60 bash -c 'program kernels_equal_host'
  beside small 90 env SHARDLAB_RANKS=1 "$SHARDLAB_PYTHON" training.py ledger wrong_ordinal allocator_history
  beside operators_equal_host 200 bash -c operators
  beside training 120 env SHARDLAB_RANKS=1 "$SHARDLAB_PYTHON" training.py float32 bfloat16 checkpointing
  beside switches 120 env SHARDLAB_RANKS=1 "$SHARDLAB_PYTHON" training.py poison jitter
  beside memory 120 env SHARDLAB_RANKS=1 "$SHARDLAB_PYTHON" training.py memory_is_back out_of_memory
  all_beside
  step kernel_bandwidth 30 bash -c 'program kernel_bandwidth'
  step llama_1b 60 "$SHARDLAB_PYTHON" llama_1b.py "$files/llama_1b.json"
  step torch_choices 60 "$SHARDLAB_PYTHON" _torch_choices.py "$files/torch_choices.json"
}

# NCCL's advice for ranks that share a GPU: the default of channels suffices for two, more may hang. A daemon of our own lets their kernels
# run side by side; without it they take turns, tens of milliseconds each.
stage_b() {
  export NCCL_MULTI_RANK_GPU_ENABLE=1 NCCL_NVLS_ENABLE=0 NCCL_MAX_CTAS=2
  if [ -z "${SHARDLAB_REHEARSE:-}" ] && command -v nvidia-cuda-mps-control >/dev/null; then
    export CUDA_MPS_PIPE_DIRECTORY=$RESULTS/mps CUDA_MPS_LOG_DIRECTORY=$RESULTS/mps
    mkdir -p "$RESULTS/mps"
    nvidia-cuda-mps-control -d && trap 'echo quit | nvidia-cuda-mps-control' EXIT
  fi
  step two_ranks_begin 40 env SHARDLAB_RANKS=2 NCCL_DEBUG=INFO NCCL_DEBUG_FILE="$files/nccl.%h.%p.log" "$SHARDLAB_PYTHON" training.py begins
  beside two_ranks 170 env SHARDLAB_RANKS=2 "$SHARDLAB_PYTHON" training.py float32 bfloat16
  step four_ranks 70 env SHARDLAB_RANKS=4 SHARDLAB_STRATEGIES=native,ddp "$SHARDLAB_PYTHON" training.py float32
  step soak 70 "$SHARDLAB_PYTHON" several_ranks.py soak
  step killed 50 "$SHARDLAB_PYTHON" several_ranks.py killed
  step memory_of_one 40 "$SHARDLAB_PYTHON" several_ranks.py memory
  step hybrid 60 "$SHARDLAB_PYTHON" several_ranks.py hybrid
  all_beside
  step memcheck 60 "$SHARDLAB_PYTHON" several_ranks.py memcheck
}

stage_c() {
  step one_b 330 "$SHARDLAB_PYTHON" compare_fsdp2.py --case 1b --rounds 2 --ways native,eager,compiled --json "$files/one_b.json"
  step one_b_mirrored 60 "$SHARDLAB_PYTHON" compare_fsdp2.py --case 1b --rounds 1 --ways fsdp2 --json "$files/one_b_mirrored.json"
  step one_b_operators 60 "$SHARDLAB_PYTHON" compare_fsdp2.py --case 1b --rounds 1 --ways operators --json "$files/one_b_operators.json"
  step eight_b 240 "$SHARDLAB_PYTHON" compare_fsdp2.py --case 8b16 --rounds 1 --ways native,eager --json "$files/eight_b.json"
}

stage_d() {
  local cluster
  cluster=$("$SHARDLAB_PYTHON" _gpu.py cluster)
  step bench 80 "$SHARDLAB" bench --cluster "$cluster"
  step calibrate 180 "$SHARDLAB" calibrate --cluster "$cluster" --db "$files/runs.db" --output "$files/calibration.json"
  step validate 280 "$SHARDLAB_PYTHON" validate_all.py --db "$files/runs.db" --json "$files/validate.json"
}

stage_e() { step pytorch_runs 300 "$SHARDLAB_PYTHON" pytorch_runs.py "$files/pytorch_runs"; }

stage_"${stage,}"
finish_stage
