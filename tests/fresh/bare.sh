# shellcheck shell=bash
# A bare Debian 12 in $bare, entered by chroot. Sourced by run.sh.

lines=()

mount_into() { mount --bind "$1" "$bare$1"; mounted+=("$bare$1"); }
mounted=()
lent_certificates=/etc/ssl/lent-certificates.crt

leave() {
  local status=$?
  for place in "${mounted[@]}"; do umount -l "$place" || true; done
  if [ -n "$keep" ]; then
    echo "kept: $work"
  elif ! grep -qF "$work" /proc/mounts; then
    rm -rf --one-file-system "$work"
  fi
  exit "$status"
}

# SHARDLAB_FRESH_BASE in the environment names a folder that debootstrap has made before, which is copied.
make_bare() {
  echo "making a bare Debian 12 in $bare"
  if [ -n "${SHARDLAB_FRESH_BASE:-}" ]; then
    cp -a "$SHARDLAB_FRESH_BASE" "$bare"
  else
    debootstrap --variant=minbase bookworm "$bare" >"$work/debootstrap.log" 2>&1 \
      || { tail "$work/debootstrap.log"; return 1; }
  fi
  rm -f "$bare"/var/cache/apt/archives/*.deb
  mkdir -p "$bare/dev/shm"
  mount_into /proc
  mount_into /sys
  mount_into /dev
}

# Copies, where they exist, the files that say how this machine reaches the network. Packages that came are kept so
# that they can be counted.
lend_network() {
  local file
  for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /root/.config/pip/pip.conf \
      /etc/apt/sources.list /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list \
      /etc/apt/apt.conf.d/*proxy* /etc/apt/apt.conf.d/99* /usr/share/keyrings/*.gpg; do
    if [ -f "$file" ]; then
      mkdir -p "$bare$(dirname "$file")"
      cp -L "$file" "$bare$file"
    fi
  done
  # Under a name of its own: installing ca-certificates writes the usual one anew.
  if [ -f /etc/ssl/certs/ca-certificates.crt ]; then
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$bare$lent_certificates"
  fi
  printf 'Binary::apt-get::APT::Keep-Downloaded-Packages "true";\nAPT::Keep-Downloaded-Packages "true";\n' \
    >"$bare/etc/apt/apt.conf.d/zz-keep"
}

# Runs a command in the folder $home of the bare system. Only what reaches the network comes along of the environment, and "$@" from the
# second on, NAME=VALUE each.
home=/root/shardlab
inside() {
  local variable variables=()
  while IFS= read -r variable; do variables+=("$variable"); done \
    < <(env | grep -iE '^(https?_proxy|no_proxy|ftp_proxy|PIP_(INDEX_URL|EXTRA_INDEX_URL|DEFAULT_TIMEOUT|TRUSTED_HOST))=')
  [ -f "$bare$lent_certificates" ] && variables+=("PIP_CERT=$lent_certificates" "SSL_CERT_FILE=$lent_certificates")
  env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 TERM=dumb "${variables[@]}" "${@:2}" \
    chroot "$bare" /bin/bash -o pipefail -c "cd $home && $1"
}

received() { tr ':' ' ' </proc/net/dev | awk 'NR > 2 && $1 != "lo" { sum += $2 } END { printf "%.0f\n", sum }'; }

# timed <name> <command> [NAME=VALUE...]: runs it inside and notes the wall time and what the machine received meanwhile.
timed() {
  local started bytes status=0
  started=$(date +%s.%N) bytes=$(received)
  echo "--- $1"
  inside "${@:2}" || status=$?
  lines+=("$(awk -v name="$1" -v status="$status" -v t0="$started" -v t1="$(date +%s.%N)" -v b0="$bytes" -v b1="$(received)" \
    'BEGIN { printf "%-32s exit %d  %8.1f s  received %8.1f MB", name, status, t1 - t0, (b1 - b0) / 1e6 }')")
  if [ "$status" -ne 0 ]; then report; return "$status"; fi
}

report() {
  echo
  printf '%s\n' "${lines[@]}"
  echo "packages: $(ls "$bare"/var/cache/apt/archives/*.deb 2>/dev/null | wc -l) files," \
    "$(du -cb "$bare"/var/cache/apt/archives/*.deb 2>/dev/null | awk 'END { printf "%.1f MB", $1 / 1e6 }')"
  local torch
  torch=$(du -sm "$bare/root/.cache/shardlab" 2>/dev/null | cut -f 1)
  echo "system with everything: $(du -sxm "$bare" | cut -f 1) MiB${torch:+, of it $torch MiB of libtorch}"
}
