#!/usr/bin/env bash
# The pictures in docs/images, drawn by the window itself without a display.
#
#   scripts/screenshots.sh [FOLDER]     all of them into FOLDER [docs/images]
#   scripts/screenshots.sh --all FOLDER also light and dark at scales 1 and 2, for looking at
#   scripts/screenshots.sh --look FOLDER [SUBJECT]...
#                                       every panel in both themes with large subjects open, for looking at: llama-3-70b,
#                                       distillation, offload, imported (a trace of torch.profiler) [all of them]
#
# The runs that Timeline, Memory, Compare and Runs show are a prediction and, where this build trains for real, a measurement
# of scenarios/first/tiny-llama.yaml, in a database that is thrown away. SHARDLAB_RUNS=FILE takes those of a database that
# `shardlab validate` filled at a quiet moment: on a busy machine ranks mostly wait for each other.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
shardlab=$(readlink -f "${SHARDLAB:-$root/build/bin/shardlab}")
variants=("dark 1")
look=
case "${1:-}" in
  --all) variants=("dark 1" "light 1" "dark 2" "light 2"); shift ;;
  --look) look=yes; variants=("dark 1" "light 1"); shift ;;
esac
folder=$(readlink -m "${1:-$root/docs/images}")
[ $# -eq 0 ] || shift
subjects=("$@")
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work
cd "$root"

# picture <name> <width> <height> <scenario> <option>...: for each variant; sizes are those of scale 1.
picture() {
  local name=$1 width=$2 height=$3 scenario=$4 variant theme scale file
  shift 4
  for variant in "${variants[@]}"; do
    read -r theme scale <<<"$variant"
    file=$folder/$name.png
    [ ${#variants[@]} -eq 1 ] || file=$folder/$name-$theme-$scale.png
    "$shardlab" gui --screenshot "$file" --size "$((width * scale))x$((height * scale))" --theme "$theme" --scale "$scale" \
      --db runs.db "$@" ${scenario:+"$scenario"}
  done
}

# wanted <subject>: whether it was named, or none was.
wanted() {
  [ ${#subjects[@]} -eq 0 ] || [[ " ${subjects[*]} " == *" $1 "* ]]
}

# panels_of <subject> <scenario or nothing> <option>...: the whole window, then every panel alone.
panels_of() {
  local subject=$1 scenario=$2 panel
  shift 2
  picture "$subject-window" 1600 1000 "$scenario" "$@"
  for panel in "$root"/gui/panels/*/; do
    panel=$(basename "$panel")
    case $panel in
      fit) picture "$subject-$panel" 640 1900 "$scenario" --panel "$panel" "$@" ;;
      *) picture "$subject-$panel" 1200 720 "$scenario" --panel "$panel" "$@" ;;
    esac
  done
}

if [ -n "$look" ]; then
  cd "$work"
  sed -e '/^description/d' "$root/scenarios/offload/fsdp2-70b-8xh100.yaml" >llama3-70b-offload.yaml
  cat >llama3-70b.yaml <<'YAML'
name: llama3-70b
model: { config: llama-3-70b, sequence_length: 4096 }
cluster: { node: hgx-h100, nodes: 8 }
parallel: { strategy: fsdp2 }
precision: { param: bfloat16, reduce: float32 }
activation: { checkpoint: full }
train: { micro_batch: 1, accumulation: 4, sync: every }
YAML
  cp "$root/scenarios/distillation/qwen3-30b-a3b-distilled-8xh100.yaml" distillation.yaml
  "$shardlab" simulate llama3-70b.yaml --set parallel.strategy=fsdp1 --db runs.db --quiet >/dev/null
  "$shardlab" import "$root"/tests/data/profiler/gloo_fsdp2_rank{0,1}.json.gz --name imported --db runs.db --quiet >/dev/null
  if wanted llama-3-70b; then panels_of llama-3-70b llama3-70b.yaml --runs r1; fi
  if wanted distillation; then panels_of distillation distillation.yaml; fi
  if wanted offload; then panels_of offload llama3-70b-offload.yaml; fi
  if wanted imported; then panels_of imported "" --runs r2; fi
  exit 0
fi

tiny=$root/scenarios/first/tiny-llama.yaml
large=$root/scenarios/first/llama3-8b-fsdp2-8xh100.yaml
runs=r2  # beside the prediction of the open scenario
if [ -n "${SHARDLAB_RUNS:-}" ]; then
  cp "$SHARDLAB_RUNS" "$work/runs.db"
else
  "$shardlab" validate "$tiny" --db "$work/runs.db" --quiet >/dev/null || [ $? -eq 1 ] || {
    "$shardlab" simulate "$tiny" --db "$work/runs.db" --quiet >/dev/null
    runs=r1
  }
fi
cp "$large" "$work/llama3-8b.yaml"
cd "$work"  # the names of the files are seen in the pictures: they are short

picture window 1600 1000 llama3-8b.yaml --select 291
picture scenario 1000 720 llama3-8b.yaml --panel scenario
picture fit 640 780 llama3-8b.yaml --panel fit
picture doctor 760 470 llama3-8b.yaml --panel doctor --edit train.micro_batch=2
picture plan 960 720 llama3-8b.yaml --panel plan --select 9
picture hardware 900 560 llama3-8b.yaml --panel hardware
picture models 700 320 llama3-8b.yaml --panel models
for panel in timeline memory compare runs; do
  picture "$panel" 1200 640 "$tiny" --panel "$panel" --runs "$runs" --select 52
done
sed -e '/^name/d' -e 's/ranks: 2/ranks: 4/' "$root/scenarios/lessons/04-unit-by-unit/tiny.yaml" >four-ranks.yaml
picture player 1200 640 four-ranks.yaml --panel player --select 12 --played 0.6
picture export 1100 760 llama3-8b.yaml --panel export
picture lessons 1600 1000 "" --lesson 1 --lesson-step 4
picture monitor 1000 420 "$tiny" --panel monitor
