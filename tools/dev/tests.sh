# The tests, and the forms in which they run. Sourced by ./dev.
#
# short        release build, tests of at most 15 s each, checks, a short fuzz
# sanitizers   unit tests, crashes and chosen scripts under AddressSanitizer and
#              UndefinedBehaviorSanitizer
# longer       the tests labelled long and chaos
# browser      the page of `berth ui` in Chromium
# javascript   the JavaScript client, and axe on the page, which need npm's registry
# all          everything, in the long forms, with ThreadSanitizer

reports=()    # The reports of ctest, as NAME=FILE.
left_out=()   # What the form leaves out, and the command for it.
fuzz_run=0

# Prints the programs that the tests use. Fails if one is missing.
show_tools() { /usr/bin/python3 test/e2e/tools.py || die "./dev setup test provides these programs"; }

# run_ctest PRESET NAME [CTEST ARGS...]: runs tests of a build and keeps the report under that name.
run_ctest() {
  local folder=$BUILD/$1 name=$2 log report pid
  shift 2
  log=$folder/ctest-$name.log
  report=$PWD/$folder/report-$name.xml
  reports+=("$name=$report")
  # What a build has just written goes to the disk first. Otherwise it delays each sync of a store,
  # and the first tests take three times as long.
  sync -f "$BUILD"
  # Tests wait for servers and disks about half of the time, so run two per processor.
  ctest --test-dir "$folder" -j $((2 * JOBS)) --output-on-failure --output-junit "$report" \
    --no-tests=error "$@" >"$log" 2>&1 &
  pid=$!
  follow_ctest "$pid" "$log"
  wait "$pid" || {
    sed -n '/ Start \|  Passed /!p' "$log"
    die "tests failed ($log)"
  }
  /usr/bin/python3 tools/test_report.py --count "$name=$report"
}

# Shows the progress of the tests on one line, while they run.
follow_ctest() {
  [[ -t 2 ]] || return 0
  while kill -0 "$1" 2>/dev/null; do
    progress "$(grep -E '^ *[0-9]+/[0-9]+ ' "$2" 2>/dev/null | tail -1)"
    sleep 0.5
  done
  clear_progress
}

# --- steps ---------------------------------------------------------------------------------------

format_and_structure() {
  check_format
  check_structure
  check_web
}

# compile_and_tidy all|changed: compiles each of these files alone, and runs clang-tidy on it.
compile_and_tidy() {
  check_alone "$1"
  tidy "$1"
}

release_tests() {
  local preset
  preset=$(plain_preset)
  run_ctest "$preset" "$preset" "$@"
  cat "$BUILD/$preset/conformance.txt"
}

longer_tests() {
  local preset
  preset=$(plain_preset)
  run_ctest "$preset" longer -L 'long|chaos'
}

# Screenshots of the page, and the figures of large clusters, are in browser-shots and browser.txt of the
# build folder.
browser_tests() {
  local preset
  preset=$(plain_preset)
  run_ctest "$preset" browser -L browser
  cat "$BUILD/$preset/browser.txt"
}

javascript_tests() {
  local preset
  preset=$(plain_preset)
  BERTH_REQUIRE_NPM=1 run_ctest "$preset" javascript -L javascript
}

# --- forms ---------------------------------------------------------------------------------------

test_short() {
  step show_tools
  step format_and_structure
  step build_tests "$(plain_preset)"
  step compile_and_tidy changed
  step release_tests -LE 'long|chaos|browser|javascript'
  step build_fuzz
  # With the same seed in every run, a change is not refused for what chance finds in old code.
  # ./dev fuzz and the long form try other inputs each time.
  FUZZ_SEED=1 step fuzz 3
}
readonly SHORT_STEPS=("programs" "format, layers, words and the page" "build (release)"
  "clang-tidy and includes (changed files)" "tests (release)" "build (fuzz targets)" "fuzzing, 3 s each")

test_sanitizers() {
  step build_tests asan ordinary_tests
  step run_ctest asan asan -LE 'long|chaos|models|plain|browser|javascript' -E '_NOT_BUILT$'
}
readonly SANITIZER_STEPS=("build (asan)" "tests (AddressSanitizer, UndefinedBehaviorSanitizer)")

test_longer() {
  step build_tests "$(plain_preset)" all benchmarks
  step longer_tests
}
readonly LONGER_STEPS=("build (longer tests, benchmarks)" "longer tests (long, chaos)")

test_browser() {
  setup browser
  step build_tests "$(plain_preset)"
  step browser_tests
}
readonly BROWSER_STEPS=("build (browser)" "tests (browser)")

test_javascript() {
  setup browser javascript
  step build_tests "$(plain_preset)"
  step javascript_tests
}
readonly JAVASCRIPT_STEPS=("build (JavaScript client, axe)" "tests (JavaScript client, axe)")

test_everything() {
  export BERTH_LONG=1
  setup browser javascript
  step show_tools
  step format_and_structure
  step build_tests "$(plain_preset)" all benchmarks
  step compile_and_tidy all
  step release_tests
  step build_tests asan
  step run_ctest asan asan -LE browser
  step build_tests tsan
  TSAN_OPTIONS="suppressions=$PWD/test/tsan.supp" step run_ctest tsan tsan -LE browser
  step fuzz 60
}
readonly ALL_STEPS=("programs" "format, layers, words and the page" "build (release)"
  "clang-tidy and includes (whole tree)" "tests (release, long form)" "build (asan)"
  "tests (asan, long form)" "build (tsan)" "tests (tsan, long form)" "fuzzing, 60 s each")

readonly SANITIZERS_TOO="AddressSanitizer and UndefinedBehaviorSanitizer: ./dev test --sanitizers"
readonly LONGER_TOO="long tests and etcd clusters under faults: ./dev test --longer"
readonly BROWSER_TOO="the page in a browser: ./dev test --browser"
readonly JAVASCRIPT_TOO="the JavaScript client and axe, which need npm's registry: ./dev test --javascript"
readonly MODELS_TOO="models, and scripts that take the paths of others, with sanitizers: ./dev test --all"
readonly ALL_TOO="ThreadSanitizer and the long forms of all tests: ./dev test --all"

# run_tests FORM
run_tests() {
  case $1 in
    short)
      left_out=("$SANITIZERS_TOO" "$LONGER_TOO" "$BROWSER_TOO" "$JAVASCRIPT_TOO" "$ALL_TOO")
      plan_steps "${SHORT_STEPS[@]}"
      test_short
      ;;
    sanitizers)
      left_out=("$MODELS_TOO")
      plan_steps "${SANITIZER_STEPS[@]}"
      test_sanitizers
      ;;
    longer)
      plan_steps "${LONGER_STEPS[@]}"
      test_longer
      ;;
    browser)
      plan_steps "${BROWSER_STEPS[@]}"
      test_browser
      ;;
    javascript)
      plan_steps "${JAVASCRIPT_STEPS[@]}"
      test_javascript
      ;;
    ci)
      left_out=("$MODELS_TOO" "$JAVASCRIPT_TOO" "$ALL_TOO")
      plan_steps "${SHORT_STEPS[@]}" "${BROWSER_STEPS[@]}" "${SANITIZER_STEPS[@]}" "${LONGER_STEPS[@]}"
      test_short
      test_browser
      test_sanitizers
      test_longer
      ;;
    all)
      plan_steps "${ALL_STEPS[@]}"
      test_everything
      ;;
  esac
  report_tests "$1"
}

# Prints the slowest tests, what was skipped and why, what the form leaves out, and the totals.
report_tests() {
  local each
  say "the slowest twenty tests"
  /usr/bin/python3 tools/test_report.py --slowest 20 "${reports[@]}"
  say "time by step"
  report_steps
  say "not run"
  /usr/bin/python3 tools/test_report.py --skipped "${reports[@]}"
  for each in "${left_out[@]}"; do echo "  not part of this form: $each"; done
  printf '\nPASS (%s) in %s%s\n' "$1" "$(duration $SECONDS)" \
    "$([[ $fuzz_run -eq 0 ]] || echo ", with $fuzz_run fuzz targets")"
  /usr/bin/python3 tools/test_report.py --total "${reports[@]}"
}

coverage() {
  setup coverage
  say "build (coverage)"
  build_tests coverage
  rm -rf "$BUILD/coverage/profiles"
  LLVM_PROFILE_FILE=$PWD/$BUILD/coverage/profiles/%4m.profraw run_ctest coverage coverage \
    -LE 'long|chaos|browser|javascript'
  /usr/bin/python3 tools/coverage.py "$BUILD/coverage" --require src/alloc=90 --require src/ip=90
}

# --- fuzzing -------------------------------------------------------------------------------------

fuzz_targets() { (cd test/fuzz && ls ./*_fuzz.cc | sed 's|./||; s/\.cc$//'); }

build_fuzz() {
  # shellcheck disable=SC2046
  build_tests asan $(fuzz_targets)
}

# fuzz SECONDS [TARGET...]: runs the targets, as many at a time as there are processors. Inputs are
# random unless FUZZ_SEED is set.
fuzz() {
  local seconds=$1 target
  shift
  # shellcheck disable=SC2046
  [[ $# -gt 0 ]] || set -- $(fuzz_targets)
  for target in "$@"; do
    [[ -x $BUILD/asan/test/fuzz/$target ]] || die "no fuzz target $target"
    mkdir -p "$BUILD/asan/corpus/$target" "$BUILD/asan/findings"
  done
  export -f fuzz_one
  printf '%s\n' "$@" | xargs -P "$JOBS" -I{} bash -c "fuzz_one {} $seconds" ||
    die "fuzzing found something ($BUILD/asan/findings)"
  fuzz_run=$((fuzz_run + $#))
}

# fuzz_one TARGET SECONDS: an input that takes 25 s is a finding, even on a busy machine.
fuzz_one() {
  local log=$BUILD/asan/$1.log
  "$BUILD/asan/test/fuzz/$1" -max_total_time="$2" -seed="${FUZZ_SEED:-0}" -timeout=25 \
    -print_final_stats=1 \
    -artifact_prefix="$BUILD/asan/findings/$1-" "$BUILD/asan/corpus/$1" "test/fuzz/corpus/$1" \
    >"$log" 2>&1 || {
    tail -40 "$log"
    return 255  # Makes xargs end the others.
  }
  printf '%-24s %12s inputs, no finding\n' "$1" \
    "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
}
