#!/usr/bin/env bash
# The pictures in docs/images, drawn by the window itself without a display.
#
#   scripts/screenshots.sh [FOLDER]     all of them into FOLDER [docs/images]
#   scripts/screenshots.sh --all FOLDER also light and dark at scales 1 and 2, for looking at
#
# The runs that Timeline, Memory, Compare and Runs show are a prediction and, where this build trains for real, a measurement
# of scenarios/first/tiny-llama.yaml, in a database that is thrown away. SHARDLAB_RUNS=FILE takes those of a database that
# `shardlab validate` filled at a quiet moment: on a busy machine ranks mostly wait for each other.
set -euo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
shardlab=$(readlink -f "${SHARDLAB:-$root/build/bin/shardlab}")
variants=("dark 1")
if [ "${1:-}" = --all ]; then
  variants=("dark 1" "light 1" "dark 2" "light 2")
  shift
fi
folder=$(readlink -f "${1:-$root/docs/images}")
mkdir -p "$folder"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CONFIG_HOME=$work
cd "$root"

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

# picture <name> <width> <height> <scenario> <option>...: for each variant; sizes are those of scale 1.
picture() {
  local name=$1 width=$2 height=$3 scenario=$4 variant theme scale file
  shift 4
  for variant in "${variants[@]}"; do
    read -r theme scale <<<"$variant"
    file=$folder/$name.png
    [ ${#variants[@]} -eq 1 ] || file=$folder/$name-$theme-$scale.png
    "$shardlab" gui --screenshot "$file" --size "$((width * scale))x$((height * scale))" --theme "$theme" --scale "$scale" \
      --db runs.db "$@" "$scenario"
  done
}

picture window 1600 1000 llama3-8b.yaml --select 291
picture scenario 1000 720 llama3-8b.yaml --panel scenario
picture fit 640 780 llama3-8b.yaml --panel fit
picture plan 960 720 llama3-8b.yaml --panel plan --select 9
picture hardware 900 560 llama3-8b.yaml --panel hardware
picture models 700 320 llama3-8b.yaml --panel models
for panel in timeline memory compare runs; do
  picture "$panel" 1200 640 "$tiny" --panel "$panel" --runs "$runs" --select 52
done
picture player 1000 640 "$tiny" --panel player --select 52
picture monitor 1000 420 "$tiny" --panel monitor
