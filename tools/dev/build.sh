# Builds. Sourced by ./dev.

# Prints the preset for ordinary work. A first build compiles many files at a time (quick). A
# developer who changes files often creates a build of single files once (./dev build release),
# which is used from then on.
plain_preset() { if [[ -f $BUILD/release/build.ninja ]]; then echo release; else echo quick; fi; }

# configure PRESET ON|OFF: configures a preset with or without tests. A build without tests does not
# need their libraries.
configure() {
  local preset=$1 tests=$2
  if [[ ! -f $BUILD/$preset/build.ninja ]]; then
    cmake --preset "$preset" -DBERTH_TESTS="$tests" >"$BUILD/cmake.log" || {
      tail -20 "$BUILD/cmake.log" >&2
      die "CMake failed ($BUILD/cmake.log)"
    }
  elif [[ $tests == ON ]] && grep -q '^BERTH_TESTS:BOOL=OFF' "$BUILD/$preset/CMakeCache.txt"; then
    cmake --preset "$preset" -DBERTH_TESTS=ON >"$BUILD/cmake.log"
  fi
}

# build PRESET [TARGET...]: builds these targets, or all, of a configured preset.
build() {
  local preset=$1 quiet=(--quiet)
  shift
  [[ ! -t 1 ]] || quiet=()  # A user is watching, so ninja shows its progress.
  cmake --build "$BUILD/$preset" -j "$JOBS" -- "${quiet[@]}" "$@" ||
    die "the build failed. A compiler that was \"Killed\" had too little memory: try JOBS=1"
  # The link has the same name for every preset, for the documentation and for users.
  [[ ! -x $BUILD/$preset/berth || $preset != "$(plain_preset)" ]] ||
    ln -sfn "$preset/berth" "$BUILD/berth"
}

# build_tests PRESET [TARGET...]: does the same with tests. Prints the times of compiling and
# linking.
build_tests() {
  configure "$1" ON
  build "$@"
  /usr/bin/python3 tools/build_times.py "$BUILD/$1"
}

# Builds only the program. Says how long that may take if nothing is built yet.
build_program() {
  local preset begin=$SECONDS first=''
  preset=$(plain_preset)
  if [[ ! -x $BUILD/$preset/berth ]]; then
    first=yes
    say "building Berth (a first build takes some 3 minutes on two processors)"
  fi
  configure "$preset" OFF
  build "$preset" berth
  [[ -z $first ]] || echo "    built in $(duration $((SECONDS - begin)))"
}
