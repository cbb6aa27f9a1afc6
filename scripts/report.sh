# shellcheck shell=bash
# What the scripts tell a person: short lines on standard error, so that standard output stays the program's.

say() { printf '%s\n' "$*" >&2; }

# step <message> <log file> <command>...: runs the command with its output in the log and prints the message with the
# time it took, the log's latest line meanwhile. On failure shows the log's end and returns the command's status.
step() {
  local message=$1 log=$2 started=$SECONDS status=0 watcher
  shift 2
  mkdir -p "$(dirname "$log")"
  watch_log "$message" "$log" >/dev/null 8>&- 9>&- & watcher=$!  # keeps neither a pipe nor a lock open
  "$@" >"$log" 2>&1 </dev/null || status=$?
  kill "$watcher" 2>/dev/null
  wait "$watcher" 2>/dev/null || true
  [ -t 2 ] && printf '\r\033[K' >&2
  if [ "$status" -ne 0 ]; then
    say "  $message: failed after $((SECONDS - started)) s. The end of $log:"
    show_end "$log"
    return "$status"
  fi
  say "  $message: $((SECONDS - started)) s"
}

# On a terminal one line that follows the log, elsewhere a line a minute.
watch_log() {
  local message=$1 log=$2 started=$SECONDS pause=60 line nothing
  [ -t 2 ] && pause=1
  exec {nothing}<> <(:)  # waiting on it is a sleep without a child process that would outlive a kill
  while kill -0 $$ 2>/dev/null; do
    read -rt "$pause" -u "$nothing"
    line=$(tail -c 400 "$log" 2>/dev/null | tr '\r' '\n' | grep -v '^$' | tail -n 1 | tr -d '\000-\037' | cut -c 1-80)
    if [ -t 2 ]; then
      printf '\r\033[K  %s (%d s): %s' "$message" $((SECONDS - started)) "$line" >&2
    else
      say "  $message, $((SECONDS - started)) s so far: $line"
    fi
  done
}

# The compiler's errors where there are any, else the last lines.
show_end() {
  if grep -qE '(error|Error):? ' "$1"; then
    grep -E -A 4 '(error|Error):? ' "$1" | head -n 40 >&2
  else
    tail -n 40 "$1" >&2
  fi
}
