# shellcheck shell=bash
# The stages of ./test.sh: each builds one folder, runs its tests and adds a line to the summary.

passed=0 failed=0 skipped=0
summary=()
torch_is_off=

# run_tests <build> <name> <ctest option>...
run_tests() {
  local folder=$1 name=$2 status=0 started=$SECONDS results
  shift 2
  results=$folder/test-results.xml
  rm -f "$results"
  say "  testing $name"
  ctest --test-dir "$folder" --output-on-failure --no-tests=error -j "$(build_jobs)" --output-junit "$results" "$@" \
    | tee "$folder/test.log" | grep -vE '^ +Start +[0-9]+:' || status=${PIPESTATUS[0]}
  count_tests "$results" "$name" $((SECONDS - started)) "$status"
}

# Adds the figures of ctest's result file; a run that left none counts as one failure.
count_tests() {
  local results=$1 name=$2 seconds=$3 all bad passing skip
  number() { grep -oE "\b$1=\"[0-9]+\"" "$results" | head -n 1 | tr -dc 0-9; }
  if [ -s "$results" ] && all=$(number tests) && [ -n "$all" ]; then
    bad=$(number failures)
    skip=$(($(number skipped) + $(number disabled)))
    passing=$((all - bad - skip))
    [ "$4" -eq 0 ] || [ "$bad" -gt 0 ] || bad=1
  else
    bad=1 skip=0 passing=0
  fi
  passed=$((passed + passing)) failed=$((failed + bad)) skipped=$((skipped + skip))
  summary+=("$(printf '%-28s %5d passed %4d failed %4d skipped %6d s' "$name" "$passing" "$bad" "$skip" "$seconds")")
}

not_built() {
  failed=$((failed + 1))
  summary+=("$(printf '%-28s not built: see the logs in %s' "$1" "$2")")
}

# build_variant <folder> <name> <target> <cmake option>...: one configuration; 1 with a line in the summary if not.
build_variant() {
  local folder=$1 name=$2 target=$3
  shift 3
  mkdir -p "$folder"
  { configure "$root" "$folder" -DSHARDLAB_BUILD_TESTS=ON "$@" && build "$folder" "$target"; } || { not_built "$name" "$folder"; return 1; }
}

build_main() {
  local options
  options=$(torch_options python "$root" "$root/build")
  [[ $options == *=OFF* ]] && torch_is_off=yes
  build_variant "$root/build" "$1" all $options "-DSHARDLAB_BUILD_GUI=${SHARDLAB_BUILD_GUI:-ON}" -DSHARDLAB_BUILD_KERNELS=AUTO
}

# With libtorch the build has the programs without it as well: their tests are counted apart.
stage_main() {
  build_main main || return
  # Tests run beside each other: threads that spin while they wait for others take the processors from those others.
  export OMP_WAIT_POLICY=PASSIVE
  if [ -n "$torch_is_off" ]; then
    run_tests "$root/build" "without libtorch" -LE 'benchmark|nightly' "${only[@]}"
    return
  fi
  with_transformers
  run_tests "$root/build" "with libtorch" -LE 'benchmark|nightly|without_torch' "${only[@]}"
  [ "${#only[@]}" -gt 0 ] || run_tests "$root/build" "without libtorch" -L without_torch
}

# torch_options ran in a shell of its own: the interpreter is asked for again, it exists by now.
with_transformers() {
  ensure_python_env python "$root/scripts" "$root/build/libtorch.log" &&
    ensure_peers_env "$root/scripts/requirements-peers.txt" "$root/build/transformers.log"
}

stage_benchmarks() {
  build_main benchmarks || return
  run_tests "$root/build" benchmarks -L benchmark -V
}

stage_nightly() {
  build_main nightly || return
  with_transformers
  run_tests "$root/build" nightly -L nightly -V
  SHARDLAB_NIGHTLY=1 run_tests "$root/build" "peers and faults, more" -L 'peers|faults'
}

# Torch-free unit and plan tests under sanitizers; the wheel's libraries are not built for them.
stage_sanitized() {
  local sanitizers=$1 folder="$root/build-${1//,/-}"
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=1} UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  build_variant "$folder" "$sanitizers" shardlab_unit_tests -DSHARDLAB_WITH_TORCH=OFF "-DSHARDLAB_SANITIZE=$sanitizers" || return
  run_tests "$folder" "$sanitizers" -L 'unit|plans'
}

summarize() {
  say ""
  printf '%s\n' "${summary[@]}"
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
}
