# Prepares a build: checks the machine, and installs Debian's packages and the two kubectls that
# tests use. Sourced by ./dev.

# --- the machine ---------------------------------------------------------------------------------

# One compiler process of a first build uses up to this much memory.
readonly MEMORY_PER_JOB_MB=1600

# check_machine DISK_GB: stops with an error if the machine has too little memory or disk space,
# before minutes are spent on a build that cannot succeed.
check_machine() {
  local disk_gb=$1 memory_mb free_gb
  check_distribution
  memory_mb=$(($(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024))
  ((memory_mb >= MEMORY_PER_JOB_MB)) ||
    die "$memory_mb MB of memory are available, and a compiler needs up to $MEMORY_PER_JOB_MB MB." \
      "Stop other programs or add swap."
  if ((JOBS > memory_mb / MEMORY_PER_JOB_MB)); then
    JOBS=$((memory_mb / MEMORY_PER_JOB_MB))
    echo "dev: $memory_mb MB of memory are enough for $JOBS compilers at a time (JOBS=$JOBS)" >&2
  fi
  mkdir -p "$BUILD"
  free_gb=$(($(df --output=avail -k "$BUILD" | tail -1) / 1024 / 1024))
  ((free_gb >= disk_gb)) ||
    die "$free_gb GB are free on the disk of $PWD/$BUILD, and this needs $disk_gb GB."
}

# Stops with an error on other distributions. Berth is built and tested with the packages of Debian
# 12, and others have other versions of them.
check_distribution() {
  local name
  name=$(. /etc/os-release 2>/dev/null && echo "${ID:-} ${VERSION_ID:-}")
  [[ $name != "debian 12" && -z ${BERTH_ANY_DISTRIBUTION:-} ]] || return 0
  die "Berth is built with the packages of Debian 12 (bookworm). This is" \
    "$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-not known}")." \
    "Debian 13, Ubuntu 24.04 and others are not supported: their gRPC, RocksDB and compilers are" \
    "of other versions. Use Debian 12 in a container or a virtual machine, or set" \
    "BERTH_ANY_DISTRIBUTION=1 to try it here."
}

# --- packages ------------------------------------------------------------------------------------

# Prints the packages of the given sections of packages.txt.
packages_of() {
  local section
  for section in "$@"; do
    sed 's/#.*//' packages.txt | sed -n "/^\[$section\]/,/^\[/{/^\[/!p}" | xargs -n 1
  done
}

missing_packages() {
  local wanted
  wanted=$(packages_of "$@")
  # shellcheck disable=SC2086
  comm -23 <(printf '%s\n' $wanted | sort) \
    <({
      dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 2>/dev/null |
        sed -n 's/^installed //p'
      # Node.js from another source has its own npm, which conflicts with Debian's package.
      if command -v npm >/dev/null; then echo npm; fi
    } | sort)
}

# Runs apt-get with its progress on one line. Its output is kept in a file, in case it fails.
apt_get() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Acquire::Retries=2 \
    -o DPkg::Lock::Timeout=120 \
    -o Acquire::http::Timeout=20 -o APT::Status-Fd=1 --no-install-recommends "$@" 2>&1 |
    while IFS= read -r line; do
      case $line in
        dlstatus:* | pmstatus:*)
          IFS=: read -r _ _ percent text <<<"$line"
          progress "${percent%%.*} % $text"
          ;;
        *) echo "$line" ;;
      esac
    done >"$BUILD/apt.log"
}

# Reads the package lists. Waits for another apt-get, such as a daily update, for two minutes at most.
read_lists() {
  local end=$((SECONDS + 120))
  until apt_get update; do
    grep -q 'Could not get lock' "$BUILD/apt.log" || return 1
    ((SECONDS < end)) || die "another apt-get has been reading the package lists for two minutes." \
      "Run this again when it has ended."
    progress "another apt-get reads the package lists; waiting for it"
    sleep 1
  done
}

update_lists() {
  [[ -z ${lists_are_new:-} ]] || return 0
  # apt-get update succeeds even if a server cannot be reached, so check its warnings too.
  if ! read_lists || grep -q '^\(E\|W\): .*\(Failed to fetch\|Could not resolve\)' "$BUILD/apt.log"; then
    clear_progress
    grep -m 3 '^[EW]:' "$BUILD/apt.log" >&2 || true
    die "Debian's package servers cannot be reached. Check the network, the proxy (http_proxy) and" \
      "/etc/apt/sources.list, then run this again."
  fi
  lists_are_new=yes
}

# setup SECTION...: installs the missing packages of these sections.
setup() {
  local missing begin start=$SECONDS
  missing=$(missing_packages "$@")
  [[ -n $missing ]] || return 0
  say "installing $(wc -w <<<"$missing") packages and what they need"
  begin=$SECONDS
  update_lists
  # shellcheck disable=SC2086
  apt_get install --download-only $missing || package_failure
  clear_progress
  echo "    downloaded $(sed -n 's/^Need to get \(.*\) of archives.*/\1/p' "$BUILD/apt.log" |
    sed 's|/.*||') in $(duration $((SECONDS - begin)))"
  begin=$SECONDS
  # One sync at the end instead of one for each file takes a third of the time.
  # shellcheck disable=SC2086
  apt_get -o Dpkg::Options::=--force-unsafe-io install $missing || package_failure
  sync
  clear_progress
  echo "    unpacked in $(duration $((SECONDS - begin)))"
  note_step "packages" $((SECONDS - start))
}

package_failure() {
  clear_progress
  tail -5 "$BUILD/apt.log" >&2
  die "apt-get did not install the packages ($BUILD/apt.log). If it names a package that cannot be" \
    "found, /etc/apt/sources.list lacks bookworm or its updates; if a lock, another apt-get runs."
}

# --- the kubectls of tests -----------------------------------------------------------------------

# Unpacks Debian 12's kubectl, which is the oldest supported one, and Debian 13's. They are not
# installed, because other packages own /usr/bin/kubectl.
unpack_kubectls() {
  unpack_kubectl kubectl-1.20 kubernetes-client
  unpack_kubectl kubectl-1.32 kubectl trixie
}

# unpack_kubectl FOLDER PACKAGE [RELEASE]
unpack_kubectl() {
  local folder=$PWD/$BUILD/tools/$1 package=$2 release=${3:-}
  [[ ! -x $folder/usr/bin/kubectl ]] || return 0
  echo "unpacking $1 (Debian's package $package)"
  mkdir -p "$folder"
  (
    if [[ -n $release ]]; then
      APT_CONFIG=$(lists_of "$release")
      export APT_CONFIG
    else
      update_lists
    fi
    cd "$folder" || exit 1
    apt-get download -qq "$package${release:+/$release}" 2>apt.log || {
      cat apt.log >&2
      die "Debian's package $package cannot be downloaded"
    }
    dpkg-deb -x ./*.deb .
    rm -f ./*.deb apt.log
  )
}

# Prints the path of apt settings for another release of Debian. They have their own package lists,
# so that those of this machine do not change. The server is the one that this machine uses for
# bookworm.
lists_of() {
  local release=$1 folder=$PWD/$BUILD/tools/apt-$1 server
  update_lists  # The sources are known only after an update.
  server=$(debian_sources | sed -n 's/^deb \([^ ]*\) bookworm main$/\1/p' | head -1)
  [[ -n $server ]] || die "no server of bookworm main in /etc/apt/sources.list"
  mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $server $release main" \
    >"$folder/sources.list"
  cat >"$folder/apt.conf" <<TEXT
Dir::State::lists "$folder/lists";
Dir::Cache "$folder/cache";
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "-";
APT::Sandbox::User "root";
TEXT
  APT_CONFIG=$folder/apt.conf apt-get update -qq >&2 ||
    die "the packages of Debian's $release cannot be listed from $server"
  echo "$folder/apt.conf"
}

# Prints this machine's sources of Debian 12, one per line, in the format of sources.list.
debian_sources() {
  # shellcheck disable=SC2016
  apt-get indextargets --format 'deb $(REPO_URI) $(CODENAME) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sed -n '/ bookworm/p' | sort -u
}
