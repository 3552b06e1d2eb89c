# ./dev test --fresh: runs the tests in a new minimal Debian 12, as a newcomer would have it. It
# uses only the last commit, the kernel and the network of this machine. Sourced by ./dev.

# fresh ARGS...: runs `./dev test ARGS` there and returns its exit status.
fresh() {
  local root begin=$SECONDS status=0
  check_machine 12
  command -v debootstrap >/dev/null || {
    update_lists
    apt_get install debootstrap || package_failure
  }
  [[ -z $(git status --porcelain) ]] ||
    echo "dev: what is not committed is not part of a fresh run" >&2
  root=$(mktemp -d "${TMPDIR:-/var/tmp}/berth-fresh.XXXXXX")
  say "a minimal Debian 12 in $root"
  make_root "$root"
  git clone --quiet . "$root/berth" || die "git cannot clone this repository"
  echo "    took $(duration $((SECONDS - begin)))"
  enter_root "$root" ./dev test "$@" || status=$?
  if [[ $status -eq 0 || -n ${CI:-} ]]; then
    as_root rm -rf --one-file-system "$root"
  else
    echo "dev: the root is kept in $root for a look; remove it with rm -rf" >&2
  fi
  return "$status"
}

# make_root FOLDER: installs the packages that every Debian has, from the package servers of this
# machine.
make_root() {
  local root=$1 sources server
  update_lists
  sources=$(debian_sources)
  server=$(sed -n 's/^deb \([^ ]*\) bookworm main$/\1/p' <<<"$sources" | head -1)
  [[ -n $server ]] || die "no server of bookworm main in /etc/apt/sources.list"
  as_root debootstrap --variant=minbase bookworm "$root" "$server" >"$BUILD/debootstrap.log" 2>&1 || {
    tail -5 "$BUILD/debootstrap.log" >&2
    die "debootstrap failed ($BUILD/debootstrap.log)"
  }
  as_root tee "$root/etc/apt/sources.list" <<<"$sources" >/dev/null
  # Access to the network depends on this machine, not on Debian.
  apt-config dump | grep -i '^Acquire::.*Proxy' |
    as_root tee "$root/etc/apt/apt.conf.d/proxy" >/dev/null || true
  as_root cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
}

# enter_root FOLDER COMMAND...: runs the command at the top of the clone. The command has its own
# mounts and processes, which end with it.
enter_root() {
  local root=$1
  shift
  # shellcheck disable=SC2016
  as_root env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" JOBS="$JOBS" ${CI:+CI="$CI"} \
    ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    unshare --mount --pid --fork --kill-child bash -c '
      set -e
      root=$1
      shift
      mount -t proc proc "$root/proc"
      mount -t sysfs sysfs "$root/sys"
      mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
      mount -t tmpfs tmpfs "$root/dev/shm"
      exec chroot "$root" bash -c "cd /berth && exec \"\$@\"" bash "$@"' bash "$root" "$@"
}
