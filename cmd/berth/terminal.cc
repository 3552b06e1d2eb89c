#include "berth/terminal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "berth/text.h"

namespace berth::cli {
namespace {

constexpr size_t kUsualWidth = 100;

std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : value;
}

/// The first variable that is not empty decides, as in setlocale(3).
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string locale(Environment(name));
    if (locale.empty()) continue;
    std::ranges::transform(locale, locale.begin(), [](char c) {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
  }
  return false;
}

size_t TerminalWidth(const WidthLimits& limits) {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kUsualWidth;
  return std::clamp<size_t>(size.ws_col, limits.narrowest, limits.widest);
}

/// Returns a line without its end and without the codes of colours (ESC [ ... m).
std::string WithoutColors(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\033') {
      i = std::min(line.find('m', i), line.size() - 1);
    } else if (line[i] != '\n') {
      out += line[i];
    }
  }
  return out;
}

base::Result<std::string> ReadDescriptor(int descriptor, size_t max_bytes) {
  std::string content;
  std::string buffer(size_t{1} << 16, '\0');
  while (content.size() <= max_bytes) {
    const size_t wanted = std::min(buffer.size(), max_bytes + 1 - content.size());
    const ssize_t got = read(descriptor, buffer.data(), wanted);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return base::Fail(base::Reason::kInvalid, std::strerror(errno));
    content.append(buffer, 0, static_cast<size_t>(got));
  }
  return content;
}

}  // namespace

Style DetectStyle(const WidthLimits& limits) {
  const bool terminal = isatty(STDOUT_FILENO) == 1;
  const bool plain = !Environment("NO_COLOR").empty() || Environment("TERM") == "dumb";
  return {.color = terminal && !plain,
          .utf8 = LocaleIsUtf8(),
          .width = terminal ? TerminalWidth(limits) : kUsualWidth};
}

std::optional<Screen> DetectScreen() {
  winsize size{};
  if (isatty(STDOUT_FILENO) != 1 || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 ||
      size.ws_row == 0 || size.ws_col == 0) {
    return std::nullopt;
  }
  return Screen{.rows = size.ws_row, .columns = size.ws_col};
}

std::string FitToScreen(std::string_view text, const Screen& screen) {
  std::vector<std::string_view> lines;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size() - 1) + 1;
    lines.push_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  const auto rows_of = [&screen](std::string_view line) {
    const size_t width = DisplayWidth(WithoutColors(line));
    return width <= screen.columns ? 1 : (width + screen.columns - 1) / screen.columns;
  };
  // The cursor is on the row after the last line.
  const size_t room = std::max<size_t>(screen.rows, 3) - 1;
  size_t rows = 0;
  size_t shown = 0;            // Lines that fit.
  size_t shown_with_note = 0;  // Lines that fit if the note follows.
  for (const std::string_view line : lines) {
    rows += rows_of(line);
    if (rows > room) break;
    ++shown;
    if (rows < room) shown_with_note = shown;
  }
  if (shown == lines.size()) return std::string(text);
  std::string out;
  for (const std::string_view line : std::span(lines).first(shown_with_note)) out += line;
  const std::string note = fmt::format("... {} more lines, which are shown without --watch",
                                       lines.size() - shown_with_note);
  return out + Shortened(note, screen.columns, "") + "\n";
}

base::Result<std::string> ReadAll(const std::string& path, size_t max_bytes) {
  if (path == "-") return ReadDescriptor(STDIN_FILENO, max_bytes);
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return base::Fail(base::Reason::kInvalid, std::strerror(errno));
  base::Result<std::string> content = ReadDescriptor(descriptor, max_bytes);
  close(descriptor);
  return content;
}

bool PrintOut(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return true;
    if (written < 0) {
      fmt::print(stderr, "berth: cannot write to standard output: {}\n", std::strerror(errno));
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

bool OutputHasReader() {
  pollfd output{.fd = STDOUT_FILENO, .events = 0, .revents = 0};
  return poll(&output, 1, 0) < 0 || (output.revents & POLLERR) == 0;
}

}  // namespace berth::cli
