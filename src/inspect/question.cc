#include "inspect/question.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "base/go_text.h"
#include "base/uint128.h"
#include "ip/addr.h"
#include "ip/cidr.h"
#include "ip/port_range.h"
#include "rules/names.h"

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::PoolValue;
using base::Result;

constexpr base::U128 kLastPort = 65535;
constexpr base::U128 kFirstAddress = 1U << 24;

bool AllOf(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

bool IsNumber(std::string_view text) { return AllOf(text, "0123456789"); }

tl::unexpected<base::Error> Bad(std::string_view text, std::string_view why) {
  return base::Fail(base::Reason::kInvalid, fmt::format("{}: {}", base::GoQuoted(text), why));
}

std::optional<PoolValue> ReadAddress(std::string_view text) {
  const auto read = ip::ParseAddrLoose(text);
  if (!read) return std::nullopt;
  return PoolValue{.pool = alloc::PoolOf(read->addr.family()), .value = read->addr.bits()};
}

/// Reads the number of a port, or a decimal name of an address.
std::optional<PoolValue> ReadNumber(std::string_view text) {
  const auto number = base::ParseDecimal(text);
  if (!number || *number == 0) return std::nullopt;
  if (*number <= kLastPort) return PoolValue{.pool = PoolId::kPorts, .value = *number};
  const auto address = ip::ParseDecimalName(text);
  // Below that are the addresses 0.x.x.x, which no Service can have: it is a mistyped port.
  if (!address || *number < kFirstAddress) return std::nullopt;
  return PoolValue{.pool = alloc::PoolOf(address->family()), .value = address->bits()};
}

/// Removes brackets, a port after an address, and a prefix length that means one address.
std::string_view BareAddress(std::string_view text) {
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return text;
    const std::string_view rest = text.substr(end + 1);
    const bool fits = rest.empty() || (rest.starts_with(':') && IsNumber(rest.substr(1)));
    return fits ? text.substr(1, end - 1) : text;
  }
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view length = text.substr(slash + 1);
    const auto address = ReadAddress(text.substr(0, slash));
    const std::string_view whole = address && address->pool == PoolId::kIpv4 ? "32" : "128";
    return address && length == whole ? text.substr(0, slash) : text;
  }
  const size_t colon = text.find(':');
  const bool one_colon = colon != std::string_view::npos && colon == text.rfind(':');
  return one_colon && colon > 0 && IsNumber(text.substr(colon + 1)) ? text.substr(0, colon) : text;
}

bool IsName(std::string_view text) { return rules::Dns1123SubdomainProblems(text).empty(); }

/// Reads a DNS name of a Service: web.shop.svc, with or without the domain of the cluster.
std::optional<Question::Name> ReadDnsName(std::string_view text) {
  const size_t first = text.find('.');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = text.find('.', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(second + 1);
  if (rest != "svc" && !rest.starts_with("svc.")) return std::nullopt;
  return Question::Name{.name_space = std::string(text.substr(first + 1, second - first - 1)),
                        .name = std::string(text.substr(0, first))};
}

Result<Question::Name> ReadName(std::string_view text) {
  constexpr std::string_view kWhat =
      "must be an address, a port, a Service (namespace/name), a namespace or a range";
  const std::string_view bare = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  if (auto name = ReadDnsName(bare)) return *std::move(name);
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) {
    if (!IsName(text)) return Bad(text, kWhat);
    return Question::Name{.name = std::string(text)};
  }
  const std::string_view name_space = text.substr(0, slash);
  const std::string_view name = text.substr(slash + 1);
  if (!IsName(name_space) || !IsName(name)) return Bad(text, kWhat);
  return Question::Name{.name_space = std::string(name_space), .name = std::string(name)};
}

}  // namespace

std::optional<PoolValue> ReadValue(std::string_view text) {
  const std::string_view port = text.starts_with(':') ? text.substr(1) : text;
  if (IsNumber(port)) return ReadNumber(port);
  return ReadAddress(BareAddress(text));
}

Result<std::optional<WrittenRange>> ReadWrittenRange(std::string_view text) {
  const std::string_view before_slash = text.substr(0, text.find('/'));
  if (before_slash.size() < text.size() && ReadAddress(before_slash)) {
    const auto cidr = ip::ParseCidr(text);
    if (!cidr) {
      const auto meant = ip::ParseCidrLoose(text);
      const bool hint = meant && meant->host_bits_set;
      return Bad(text, hint ? fmt::format("{}; did you mean {}?", cidr.error().message,
                                          meant->cidr.ToString())
                            : cidr.error().message);
    }
    return WrittenRange{.pool = alloc::PoolOf(cidr->family()),
                        .values = {.first = cidr->First().bits(), .last = cidr->Last().bits()},
                        .text = cidr->ToString()};
  }
  if (!AllOf(text, "0123456789+-") || text.find_first_of("+-") == std::string_view::npos ||
      !base::IsDigit(text.front())) {
    return std::nullopt;
  }
  const auto ports = ip::ParsePortRange(text);
  if (!ports) return Bad(text, ports.error().message);
  return WrittenRange{.pool = PoolId::kPorts,
                      .values = {.first = ports->first(), .last = ports->last()},
                      .text = ports->ToString()};
}

Result<Question> ReadQuestion(std::string_view text) {
  Question question{.asked = std::string(text)};
  const std::string_view bare = base::GoTrimSpace(text);
  question.value = ReadValue(bare);
  if (question.value) return question;
  if (IsNumber(bare.starts_with(':') ? bare.substr(1) : bare)) {
    return Bad(text, "a port is a number from 1 to 65535");
  }
  auto range = ReadWrittenRange(bare);
  if (!range) return tl::unexpected(range.error());
  question.range = *std::move(range);
  if (question.range) return question;
  // A text of this form was meant as an address, and would not be found as a name either.
  if (bare.find(':') != std::string_view::npos || AllOf(bare, "0123456789.")) {
    return Bad(text, "this is not a valid address");
  }
  auto name = ReadName(bare);
  if (!name) return tl::unexpected(name.error());
  question.name = *std::move(name);
  return question;
}

}  // namespace berth::inspect
