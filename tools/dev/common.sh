# Functions that all parts of ./dev share: messages, timed steps, and commands as root.
# Sourced by ./dev; the working directory is the top of the repository.

declare -rx BUILD=build  # Exported for child shells.

say() { printf '\n==> %s\n' "$*"; }

die() {
  clear_progress
  printf 'dev: %s\n' "$*" >&2
  exit 1
}

as_root() {
  if [[ $EUID -eq 0 ]]; then
    "$@"
  else
    command -v sudo >/dev/null || die "this needs root, and there is no sudo. Run as root: $*"
    sudo "$@"
  fi
}

# Prints a number of seconds in minutes and seconds.
duration() {
  if (($1 < 60)); then echo "$1 s"; else printf '%d min %02d s' $(($1 / 60)) $(($1 % 60)); fi
}

# --- progress ------------------------------------------------------------------------------------

# Shows a line that the next one replaces. It is shown only on a terminal, because a log would keep
# every line.
progress() {
  [[ ! -t 2 ]] || printf '\r\033[K    %.*s' $(($(tput cols 2>/dev/null || echo 80) - 5)) "$*" >&2
}

clear_progress() { [[ ! -t 2 ]] || printf '\r\033[K' >&2; }

# --- steps ---------------------------------------------------------------------------------------

steps_left=()
step_names=()
step_seconds=()

# Sets the names of the following steps, so that each step can name the next one.
plan_steps() { steps_left=("$@"); }

# step COMMAND...: runs the next planned step and prints how long it took.
step() {
  local name=${steps_left[0]} begin=$SECONDS
  steps_left=("${steps_left[@]:1}")
  say "$name$([[ ${#steps_left[@]} -eq 0 ]] || echo " (next: ${steps_left[0]})")"
  "$@"
  note_step "$name" $((SECONDS - begin))
  echo "    took $(duration $((SECONDS - begin)))"
}

# note_step NAME SECONDS: records a row for the table of steps.
note_step() {
  step_names+=("$1")
  step_seconds+=("$2")
}

# Prints a table of the steps that have run.
report_steps() {
  local i
  for i in "${!step_names[@]}"; do
    printf '  %-44s %s\n' "${step_names[i]}" "$(duration "${step_seconds[i]}")"
  done
}
