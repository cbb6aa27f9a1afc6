#!/usr/bin/env bash
# Fuzzes the readers of tests/fuzz with clang's libFuzzer, under the address and undefined sanitizers, and prints a table.
#
#   scripts/fuzz.sh                            every target for 30 seconds
#   scripts/fuzz.sh --seconds 300 plan spool   these, each for so long
#   scripts/fuzz.sh --in-all 600               all targets together in so many seconds
#   scripts/fuzz.sh --seed 7 --jobs 2          another seed (1 without); so many targets at a time (1 without)
#   scripts/fuzz.sh --minimise FOLDER plan     writes the fewest inputs that reach what the plan's corpus reaches
#
# Builds into build-fuzz ($SHARDLAB_FUZZ_BUILD), where inputs that were found lie in corpus/ and go on being used, what ended a
# reader in findings/. Exit code: 0 without findings, 1 with, 77 where clang or its fuzzer is missing.
set -uo pipefail
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
. "$root/scripts/report.sh"
. "$root/scripts/build.sh"

folder=${SHARDLAB_FUZZ_BUILD:-$root/build-fuzz}
compiler=${SHARDLAB_FUZZ_COMPILER:-clang++}
tests=$folder/tests/fuzz
usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

# Whether there is a clang that links libFuzzer and both sanitizers.
can_fuzz() {
  local try status
  try=$(mktemp -d)
  echo 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' > "$try/a.cpp"
  "$compiler" -fsanitize=fuzzer,address,undefined "$try/a.cpp" -o "$try/a" > "$try/log" 2>&1
  status=$?
  rm -rf "$try"
  return $status
}

build_fuzz() {
  mkdir -p "$folder"
  configure "$root" "$folder" "-DCMAKE_CXX_COMPILER=$compiler" -DSHARDLAB_FUZZ=ON -DSHARDLAB_WITH_TORCH=OFF -DSHARDLAB_BUILD_GUI=OFF \
    -DSHARDLAB_BUILD_KERNELS=OFF -DSHARDLAB_UNITY=ON -DSHARDLAB_BUILD_TESTS=ON -DSHARDLAB_WERROR=OFF &&
    build "$folder" shardlab_fuzz && build "$folder" shardlab_fuzz_replay
}

# The last figure of libFuzzer's lines: last LOG cov
last() { grep -oE "\b$2: *[0-9]+" "$1" | tail -n 1 | tr -dc 0-9; }

# fuzz_one <target> <seconds> <seed>: until the time is over, again after each finding; leaves a row of the table.
fuzz_one() {
  local name=$1 seconds=$2 seed=$3 work=$folder/fuzz/$1 end=$((SECONDS + $2)) runs=0 executions=0
  rm -rf "$work" && mkdir -p "$work/tmp" "$folder/corpus/$name" "$folder/findings"
  "$tests/shardlab_fuzz_replay" --seeds "$name" "$work" || return 1
  while [ $SECONDS -lt $end ] && [ $runs -lt 20 ]; do
    runs=$((runs + 1))
    SHARDLAB_FUZZ_TARGET=$name TMPDIR=$work/tmp "$tests/shardlab_fuzz" -max_total_time=$((end - SECONDS)) -timeout=10 -rss_limit_mb=2048 \
      "-max_len=$(cat "$work/longest")" "-dict=$work/words" "-seed=$((seed + runs - 1))" -print_final_stats=1 \
      "-artifact_prefix=$folder/findings/$name-" "$folder/corpus/$name" "$work/inputs" > "$work/log-$runs" 2>&1
    executions=$((executions + $(last "$work/log-$runs" number_of_executed_units || echo 0)))
  done
  rm -rf "$work/tmp"
  printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n' "$name" "$(cat "$work/reads")" "$seconds" "$executions" $((executions / seconds)) \
    "$(last "$work/log-$runs" cov)" "$(last "$work/log-$runs" ft)" "$(find "$folder/corpus/$name" -type f | wc -l)" \
    "$(find "$folder/findings" -name "$name-*" | wc -l)" > "$work/row"
}

# Smallest inputs first, so that one is kept only for what none before it reaches.
minimise() {
  local into=$1 name
  shift
  for name in "$@"; do
    mkdir -p "$into/$name"
    SHARDLAB_FUZZ_TARGET=$name "$tests/shardlab_fuzz" -merge=1 -timeout=10 -rss_limit_mb=2048 "$into/$name" "$folder/corpus/$name" || return 1
  done
}

print_table() {
  local name findings=0
  printf '%-19s %-31s %7s %11s %9s %7s %9s %7s %8s\n' target reads seconds executions /second edges features inputs findings
  for name in "$@"; do
    [ -s "$folder/fuzz/$name/row" ] || { echo "$name was not run"; findings=$((findings + 1)); continue; }
    awk -F '\t' '{ printf "%-19s %-31s %7d %11d %9d %7d %9d %7d %8d\n", $1, $2, $3, $4, $5, $6, $7, $8, $9 }' "$folder/fuzz/$name/row"
    findings=$((findings + $(cut -f 9 "$folder/fuzz/$name/row")))
  done
  [ $findings -eq 0 ] || { echo "findings: $folder/findings; shardlab_fuzz_replay TARGET FILE reads one again"; return 1; }
}

seconds=30 in_all= seed=1 jobs=1 into=
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?}; shift 2 ;;
    --in-all) in_all=${2:?}; shift 2 ;;
    --seed) seed=${2:?}; shift 2 ;;
    --jobs) jobs=${2:?}; shift 2 ;;
    --minimise) into=${2:?}; shift 2 ;;
    -*) usage ;;
    *) break ;;
  esac
done

can_fuzz || { echo "not fuzzed: $compiler with libFuzzer (Debian: clang, libclang-rt-dev) is not installed"; exit 77; }
build_fuzz || { echo "not built: see the logs in $folder"; exit 1; }
mapfile -t names < <(if [ $# -gt 0 ]; then printf '%s\n' "$@"; else "$tests/shardlab_fuzz_replay" --list; fi)
if [ -n "$into" ]; then
  minimise "$into" "${names[@]}"
  exit
fi
[ -z "$in_all" ] || seconds=$((in_all * jobs / ${#names[@]}))
for name in "${names[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n; done
  fuzz_one "$name" "$seconds" "$seed" &
done
wait
print_table "${names[@]}"
