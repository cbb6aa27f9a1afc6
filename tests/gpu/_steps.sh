# shellcheck shell=bash
# Steps of a stage, each with a limit of its own: what one does, hang or crash included, takes nothing from the others. After every step all
# results so far lie in one archive and the table in one file, so that whoever kills the stage half-way keeps what was finished.
#
# Before: RESULTS names a folder. Optional: STAGE_SECONDS, after which nothing is begun any more (default 560: a lent machine takes ten
# minutes a command); STEP_SECONDS, the longest that any step may take; FAULTS, for rehearsals: "name=hang name=crash name=memory".

files=$RESULTS/files
table=$RESULTS/table.txt
mkdir -p "$files"
rm -f "$RESULTS/.failed"
stage_began=$SECONDS
row() { printf '%-28s %9s %7s  %s\n' "$@"; }
row step limit took outcome >"$table"

# What a fault puts in the place of a step's command: words without spaces.
faulty() {
  local fault
  for fault in ${FAULTS:-}; do
    [ "${fault%%=*}" = "$1" ] || continue
    case ${fault#*=} in
      hang) echo sleep 3600 ;;
      crash) echo "$SHARDLAB_PYTHON" -c "__import__('os').abort()" ;;
      memory) echo "$SHARDLAB" run "$root/scenarios/first/tiny-llama.yaml" --db "$files/memory.db" --set cluster.memory_limit=24MiB ;;
    esac
  done
}

outcome() {
  case $1 in
    0) echo good ;;
    77) echo "skipped: $(tail -n 1 "$2")" ;;
    124 | 137) echo "TIMED OUT" ;;
    4) echo "FAILED: $(grep -m 1 -h -o 'out of memory.*\|error:.*' "$2" | head -c 90)" ;;
    *) if [ "$1" -gt 128 ]; then echo "CRASHED: signal $(($1 - 128))"; else echo "FAILED: exit code $1"; fi ;;
  esac
}

# Together or not at all: a reader never finds half an archive.
pack() {
  (
    flock 9
    tar -C "$RESULTS" -czf "$RESULTS/.results.tmp" --exclude='*.db' --exclude='*.safetensors' --warning=no-file-changed files table.txt || [ $? -eq 1 ]
    mv -f "$RESULTS/.results.tmp" "$RESULTS/results.tar.gz"
  ) 9>"$RESULTS/.lock"
}

# step NAME SECONDS COMMAND...: output in files/NAME.log.
step() {
  local name=$1 limit=$2 left code=0 began=$SECONDS log=$files/$1.log
  shift 2
  if [ -n "${only[*]:-}" ] && [[ " ${only[*]} " != *" $name "* ]]; then return 0; fi
  [ -z "${STEP_SECONDS:-}" ] || [ "$limit" -le "$STEP_SECONDS" ] || limit=$STEP_SECONDS
  left=$((${STAGE_SECONDS:-560} - (SECONDS - stage_began)))
  if [ "$left" -lt 5 ]; then
    row "$name" "$limit s" - "left out: no time left" | tee -a "$table"
    pack
    return 0
  fi
  [ "$limit" -le "$left" ] || limit=$left
  local -a fault
  read -r -a fault <<<"$(faulty "$name")"
  [ "${#fault[@]}" -eq 0 ] || set -- "${fault[@]}"
  timeout -k 5 "$limit" "$@" >"$log" 2>&1 </dev/null || code=$?
  [ "$code" -eq 0 ] || [ "$code" -eq 77 ] || : >"$RESULTS/.failed"
  row "$name" "$limit s" "$((SECONDS - began)) s" "$(outcome "$code" "$log")" | tee -a "$table"
  pack
}

# beside NAME SECONDS COMMAND...: a step that measures no time and so may run beside others, until `all_beside` waits for them; on a machine with
# few processors each in its turn.
beside() {
  if [ "$(nproc)" -lt 8 ]; then step "$@"; else step "$@" & fi
}

all_beside() { wait; }

finish_stage() {
  echo
  cat "$table"
  echo "$((SECONDS - stage_began)) s; $RESULTS/results.tar.gz, $(stat -c %s "$RESULTS/results.tar.gz") bytes"
  [ ! -e "$RESULTS/.failed" ]
  exit
}
