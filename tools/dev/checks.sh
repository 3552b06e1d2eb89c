# Checks of the sources (format, layers, words, types of the page, what compilers say of files that
# changed) and of commits.
# Sourced by ./dev.

# The compile commands of each file by itself are those of the daily preset. They are only configured,
# so that a check does not need a build.
readonly ALONE=$BUILD/alone

sources() { git ls-files --cached --others --exclude-standard -- '*.h' '*.cc' | sort -u; }

check_format() {
  sources | xargs clang-format-19 --dry-run -Werror || die "not formatted; ./dev fmt does it"
  echo "format: fine"
}

check_structure() {
  /usr/bin/python3 tools/check_layers.py
  /usr/bin/python3 tools/check_words.py
  /usr/bin/python3 tools/checks_test.py -q
}

# Checks the page of berth ui: its types, and its parts that need no browser.
check_web() {
  local log=$BUILD/web.log
  mkdir -p "$BUILD"
  sh web/check.sh >"$log" 2>&1 || {
    cat "$log" >&2
    die "the page has a fault (web/check.sh)"
  }
  echo "web: $(git ls-files --cached --others --exclude-standard -- 'web/src/*.ts' | wc -l) files, types are fine"
}

check_commits() { /usr/bin/python3 tools/check_commits.py; }

# Prints the source files that differ from the published main; on main itself, those of the last
# commit.
changed_sources() {
  local base
  base=$(git merge-base HEAD origin/main 2>/dev/null || true)
  if [[ -z $base || $base == $(git rev-parse HEAD) ]]; then
    base=$(git rev-parse -q --verify HEAD~1 || git hash-object -t tree /dev/null)
  fi
  { git diff --name-only --diff-filter=d "$base" -- '*.h' '*.cc' &&
    git ls-files --others --exclude-standard -- '*.h' '*.cc'; } | sort -u
}

# Makes the compile commands of single files, and the headers that are generated.
prepare_alone() {
  [[ -f $ALONE/build.ninja ]] || cmake --preset release -B "$ALONE" -DBERTH_PCH=OFF >/dev/null
  cmake --build "$ALONE" --target generated -- --quiet
}

# check_alone all|changed: every file compiles by itself, whatever a unity build puts before it.
check_alone() {
  prepare_alone
  if [[ $1 == all ]]; then
    /usr/bin/python3 tools/check_alone.py "$ALONE" --all
  else
    changed_sources | xargs /usr/bin/python3 tools/check_alone.py "$ALONE"
  fi
}

# tidy all|changed: clang-tidy looks at .cc files; a header is checked through the source of the same
# name. The path-sensitive analyzer takes a minute for a test file and is left out there.
tidy() {
  local file
  prepare_alone
  # clang does not know this option of g++.
  mkdir -p "$ALONE/plain"
  sed 's/ --param=[^ ]*//' "$ALONE/compile_commands.json" >"$ALONE/plain/compile_commands.json"
  if [[ $1 == all ]]; then sources; else changed_sources; fi | sed 's/\.h$/.cc/' | sort -u | while read -r file; do
    grep -qF "\"$PWD/$file\"" "$ALONE/compile_commands.json" || continue
    case $file in
      *_test.cc | *_bench.cc | *_fuzz.cc) echo "--checks=-clang-analyzer-* $file" ;;
      *) echo "--checks= $file" ;;
    esac
  done >"$ALONE/tidy.args"
  xargs -r -P "$JOBS" -L 1 clang-tidy-19 --quiet -p "$ALONE/plain" \
    --extra-arg=-Wno-unknown-warning-option <"$ALONE/tidy.args" 2>"$ALONE/tidy.log" ||
    { grep 'error:' "$ALONE/tidy.log" || true; die "clang-tidy found something"; }
  echo "clang-tidy: $(wc -l <"$ALONE/tidy.args") files, nothing found"
}
