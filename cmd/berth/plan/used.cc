#include "berth/plan/used.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/go_text.h"
#include "berth/plan/used_services.h"
#include "berth/text.h"
#include "codec/json.h"
#include "ip/addr.h"

namespace berth::cli {
namespace {

constexpr size_t kNone = std::string_view::npos;
constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr size_t kMaxShown = 60;  // Columns of an invalid line that its error shows.

auto BadText(std::string message) { return base::Fail(base::Reason::kInvalid, std::move(message)); }

std::string_view Trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  if (begin == kNone) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// Cuts off a comment: a '#' at the start or after white space. Owners may contain a '#'.
std::string_view WithoutComment(std::string_view line) {
  for (size_t hash = line.find('#'); hash != kNone; hash = line.find('#', hash + 1)) {
    if (hash == 0 || kBlanks.find(line[hash - 1]) != kNone) return line.substr(0, hash);
  }
  return line;
}

std::optional<U128> ReadPort(std::string_view text) {
  const std::optional<U128> port = base::ParseDecimal(text);
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  return port;
}

base::Result<Use> ReadValue(std::string_view text) {
  const std::string shown = base::GoQuoted(Shortened(text, kMaxShown, "..."));
  if (text.find_first_of(".:") == kNone) {
    const std::optional<U128> port = ReadPort(text);
    if (port) return Use{.kind = ValueKind::kNodePort, .value = *port};
    if (text.find_first_not_of("0123456789") == kNone) {
      return BadText(shown + ": a port must be a number from 1 to 65535 without leading 0s");
    }
    return BadText(shown + ": must be an IP address or a port number");
  }
  const base::Result<ip::Addr> addr = ip::ParseAddr(text, ip::Strictness::kLegacyField);
  if (!addr) return BadText(fmt::format("{}: {}", shown, addr.error().message));
  const bool v4 = addr->family() == ip::Family::kV4;
  return Use{.kind = v4 ? ValueKind::kIpv4 : ValueKind::kIpv6, .value = addr->bits()};
}

tl::unexpected<base::Error> TooMany() {
  return BadText(
      fmt::format("contains more than {} values, the maximum", WithSeparators(kMaxUses)));
}

base::Result<Used> ReadList(std::string_view text) {
  Used used{.format = UsedFormat::kList};
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    const std::string_view line = Trimmed(WithoutComment(text.substr(0, end)));
    text.remove_prefix(end == kNone ? text.size() : end + 1);
    if (line.empty()) continue;
    const size_t blank = line.find_first_of(kBlanks);
    // kubectl's custom columns print these for a headless Service and for no node port.
    if (const auto first = line.substr(0, blank); first == "None" || first == "<none>") continue;
    base::Result<Use> use = ReadValue(line.substr(0, blank));
    if (!use) return BadText(fmt::format("line {}: {}", number, use.error().message));
    if (blank != kNone) use->owner = Trimmed(line.substr(blank));
    use->line = number;
    used.uses.push_back(*std::move(use));
    if (used.uses.size() > kMaxUses) return TooMany();
  }
  return used;
}

/// Recognizes formats that users try but that cannot be read. Returns nullopt for all others.
std::optional<std::string> WrongFormat(std::string_view start) {
  constexpr std::string_view kAdvice = "use the output of `kubectl get svc -A -o json`";
  for (const std::string_view yaml : {"apiVersion:", "kind:", "items:", "metadata:", "---"}) {
    if (start.starts_with(yaml)) return fmt::format("looks like YAML; {}", kAdvice);
  }
  for (const std::string_view table : {"NAMESPACE ", "NAME "}) {
    if (start.starts_with(table)) return fmt::format("looks like kubectl's table; {}", kAdvice);
  }
  for (const std::string_view mark : {"\xFF\xFE", "\xFE\xFF"}) {
    if (start.starts_with(mark)) return "is UTF-16 text; save it as UTF-8";
  }
  return std::nullopt;
}

}  // namespace

base::Result<Used> ReadUsed(std::string_view text) {
  if (text.size() > kMaxUsedBytes) return BadText("is larger than 256 MiB, the maximum");
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const size_t first = text.find_first_not_of(" \t\r\n\f\v");
  if (first == kNone) return Used{};
  const std::string_view start = text.substr(first);
  if (const auto problem = WrongFormat(start)) return BadText(*problem);
  if (start.front() != '{' && start.front() != '[') return ReadList(text);
  const base::Result<codec::Value> document =
      codec::ParseJson(text, {.bytes = kMaxUsedBytes, .depth = 256});
  if (!document) return BadText(document.error().message);
  base::Result<Used> used = ReadServices(*document);
  if (used && used->uses.size() > kMaxUses) return TooMany();
  return used;
}

}  // namespace berth::cli
