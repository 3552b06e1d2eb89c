#include "berth/store/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "berth/program_name.h"
#include "berth/store/report.h"
#include "berth/text.h"

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

constexpr base::SteadyTime::duration kOnTerminal = 100ms;
constexpr base::SteadyTime::duration kElsewhere = 5s;
constexpr std::string_view kClearLine = "\r\x1b[K";

}  // namespace

Progress::Progress(std::string command, const base::Clock& clock, std::string_view unit)
    : command_(std::move(command)),
      unit_(unit),
      clock_(clock),
      begun_(clock.Steady()),
      terminal_(isatty(STDERR_FILENO) == 1),
      shown_(begun_) {}

Progress::~Progress() {
  if (line_there_) fmt::print(stderr, "{}", kClearLine);
}

void Progress::Show(std::string_view doing, std::optional<uint64_t> keys,
                    std::optional<uint64_t> of, uint64_t bytes) {
  const base::SteadyTime now = clock_.Steady();
  if (now - shown_ < (terminal_ ? kOnTerminal : kElsewhere)) return;
  shown_ = now;
  line_there_ = terminal_;
  fmt::print(stderr, "{}{}{}{}", terminal_ ? kClearLine : "", ProgressHead(command_),
             ProgressText(doing, keys, of, bytes, unit_), terminal_ ? "" : "\n");
}

std::string ProgressHead(std::string_view command) {
  return AsInvoked(command.empty() ? "berth: " : fmt::format("berth {}: ", command));
}

std::string ProgressText(std::string_view doing, std::optional<uint64_t> keys,
                         std::optional<uint64_t> of, uint64_t bytes, std::string_view unit) {
  if (!keys) return fmt::format("{}: {}", doing, ByteText(bytes));
  std::string text = fmt::format("{}: {}", doing, WithSeparators(base::U128(*keys)));
  if (of && *of >= *keys && *of > 0) {
    text +=
        fmt::format(" of {} {} ({}%)", WithSeparators(base::U128(*of)), unit, *keys * 100 / *of);
  } else {
    text += fmt::format(" {}", unit);
  }
  if (bytes > 0) text += ", " + ByteText(bytes);
  return text;
}

}  // namespace berth::cli
