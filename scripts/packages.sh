# shellcheck shell=bash
# Debian and Ubuntu packages, by what they are needed for.

build_packages=(g++ cmake ninja-build ca-certificates
  libfmt-dev libspdlog-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev libexpected-dev libxxhash-dev liburing-dev
  libsqlite3-dev libsqlitecpp-dev zlib1g-dev)
python_packages=(python3 python3-venv)  # pip, which brings libtorch and the window's libraries
window_packages=(libglfw3-dev)
test_packages=("${python_packages[@]}" "${window_packages[@]}" catch2
  dpkg-dev                               # for Debian packages of our own
  locales                                # for one with a decimal comma
  xvfb xauth xdotool libgl1-mesa-dri)   # a display for the test of the real window
optional_packages=(ccache)              # a missing name here must not fail the rest

# Prints those of the named packages that are not installed.
missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# ensure_packages <log> <package>...: installs what is missing. Where that is not possible it names the packages and returns 0:
# the libraries may be there in another way, and cmake says what it misses.
ensure_packages() {
  local log=$1 missing as_root=() extra
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return 0
    say "No apt here. Needed, by their Debian names: $*"
    return 0
  fi
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      say "Neither root nor sudo: please install" $missing
      return 0
    fi
    as_root=(sudo)
    sudo -v || { say "No permission through sudo: please install" $missing; return 0; }
  fi
  step "package lists" "$log" "${as_root[@]}" apt-get update || say "  going on with the lists there are"
  extra=$(for package in $(missing_packages "${optional_packages[@]}"); do
    apt-cache show "$package" >/dev/null 2>&1 && printf '%s\n' "$package"
  done)
  step "installing $(wc -w <<<"$missing $extra") packages" "$log" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=600 $missing $extra \
    || say "  going on without; needed:" $missing
}
