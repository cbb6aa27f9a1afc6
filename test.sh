#!/usr/bin/env bash
# Installs what is missing, builds, and runs every test, with libtorch and without it.
#
#   ./test.sh                        both
#   ./test.sh --sanitize LIST        only the torch-free tests under these sanitizers: address,undefined or thread
#   ./test.sh --benchmarks           only the benchmarks, which print figures
#   ./test.sh --nightly              only what takes too long for every day: the full matrix of settings, more settings drawn against the
#                                    peers, every call failing, ten minutes of fuzzing
#   ./test.sh --only REGEX           only the tests of the main build whose names match
#
# Exit code: 0 when every test passed, 1 otherwise.
set -uo pipefail
root=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
. "$root/scripts/report.sh"
. "$root/scripts/packages.sh"
. "$root/scripts/python_env.sh"
. "$root/scripts/peers_env.sh"
. "$root/scripts/build.sh"
. "$root/scripts/test_stages.sh"

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }

only=()
stages=(main)
case ${1:-} in
  "") ;;
  --sanitize)
    [ $# -eq 2 ] || usage
    stages=("sanitized $2")
    # The thread sanitizer cannot place its shadow memory where addresses are randomised by more than 28 bits.
    if [[ $2 == *thread* && -z ${SHARDLAB_FIXED_ADDRESSES:-} ]] && setarch -R true 2>/dev/null; then
      SHARDLAB_FIXED_ADDRESSES=1 exec setarch -R bash "$root/test.sh" "$@"
    fi ;;
  --benchmarks) [ $# -eq 1 ] || usage; stages=(benchmarks) ;;
  --nightly) [ $# -eq 1 ] || usage; stages=(nightly) ;;
  --only) [ $# -eq 2 ] || usage; stages=(main) only=(-R "$2") ;;
  *) usage ;;
esac

ensure_packages "$root/build/packages.log" "${build_packages[@]}" "${test_packages[@]}"
for stage in "${stages[@]}"; do
  stage_$stage
done
summarize
