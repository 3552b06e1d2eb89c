#include "rules/range_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "alloc/layout.h"
#include "codec/read.h"
#include "ip/cidr.h"
#include "rules/metadata.h"

namespace berth::rules {
namespace {

constexpr std::string_view kUnreadablePorts =
    "must be a port or a range of ports, (e.g. 443 or 30000-32767)";
constexpr uint32_t kLastPort = 65535;

/// The IPv6 addresses that Services cannot have: see alloc::LayoutOf. IPv4 addresses written as
/// IPv6 are refused by their text instead.
const ip::Cidr& NamelessBlock() {
  static const ip::Cidr block(ip::Addr(ip::Family::kV6, 0), 96);
  return block;
}

/// Returns why no Service can get an address of the CIDR, or "" if Services can.
std::string_view WhyUseless(const ip::Cidr& cidr) {
  const bool v4 = cidr.family() == ip::Family::kV4;
  if (v4 && cidr.prefix_length() == 32) {
    return "a /32 has no address to give out: its only one is the network address";
  }
  if (v4 && cidr.prefix_length() == 31) {
    return "a /31 has no address to give out: its two are the network and the broadcast address";
  }
  if (v4 && cidr.prefix_length() == 0) {
    return "0.0.0.0/0 is every IPv4 address there is; name the part of them that is for Services";
  }
  if (!v4 && cidr.prefix_length() == 128) {
    return "a /128 has no address to give out: its only one is the network address";
  }
  if (NamelessBlock().Contains(cidr)) {
    return "no address of ::/96 is given out: their decimal names are those of IPv4 addresses";
  }
  return {};
}

/// Does the same as ip::CidrProblems, but also suggests the CIDR that was probably meant.
Problems CidrTextProblems(std::string_view text) {
  const auto loose = ip::ParseCidrLoose(text);
  if (loose && loose->host_bits_set && !loose->v4_mapped && !loose->leading_zeros) {
    return {
        fmt::format("must not have bits set beyond the prefix length; the CIDR that has this "
                    "address is \"{}\"",
                    loose->cidr.ToString())};
  }
  return ip::CidrProblems(text);
}

/// The ends as written. Larger numbers read as 65536.
struct Ends {
  uint32_t first = 0;
  uint32_t last = 0;
  bool leading_zeros = false;
};

std::optional<uint32_t> ReadPort(std::string_view text) {
  if (text.empty()) return std::nullopt;
  uint32_t port = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    port = std::min(kLastPort + 1, port * 10 + static_cast<uint32_t>(c - '0'));
  }
  return port;
}

bool HasLeadingZero(std::string_view text) { return text.size() > 1 && text.front() == '0'; }

std::optional<Ends> ReadEnds(std::string_view text) {
  const size_t hyphen = text.find('-');
  const std::string_view left = text.substr(0, hyphen);
  const std::string_view right = hyphen == std::string_view::npos ? left : text.substr(hyphen + 1);
  const auto first = ReadPort(left);
  const auto last = ReadPort(right);
  if (!first || !last) return std::nullopt;
  return Ends{.first = *first,
              .last = *last,
              .leading_zeros = HasLeadingZero(left) || HasLeadingZero(right)};
}

/// Returns the problems of ports, of a range or excluded from one.
Problems PortsTextProblems(std::string_view text) {
  const auto ends = ReadEnds(text);
  if (!ends) return {std::string(kUnreadablePorts)};
  if (ends->leading_zeros) return {"must not have leading 0s"};
  if (ends->first > kLastPort || ends->last > kLastPort) {
    return {"must not have a port above 65535, which is the last one there is"};
  }
  if (ends->last < ends->first) {
    return {
        fmt::format("must not end before it begins; from the smaller to the larger port it is "
                    "\"{}-{}\"",
                    ends->last, ends->first)};
  }
  return {};
}

}  // namespace

Problems IpRangeProblems(std::string_view text) {
  Problems problems = CidrTextProblems(text);
  if (!problems.empty()) return problems;
  const std::string_view why = WhyUseless(ip::ParseCidrLoose(text)->cidr);
  return why.empty() ? Problems() : Problems{std::string(why)};
}

Problems NodePortRangeProblems(std::string_view text) {
  Problems problems = PortsTextProblems(text);
  if (problems.empty() && ReadEnds(text)->first == 0) {
    problems = {"must not have port 0, which means \"no port\" in a Service; the first one is 1"};
  }
  return problems;
}

Problems ExcludedAddressProblems(std::string_view text, std::optional<ip::Family> family) {
  std::optional<ip::Family> found;
  if (text.find('/') != std::string_view::npos) {
    if (Problems problems = CidrTextProblems(text); !problems.empty()) return problems;
    found = ip::ParseCidrLoose(text)->cidr.family();
  } else {
    const auto address = ip::ParseAddr(text);
    if (!address) return {address.error().message};
    found = address->family();
  }
  if (!family || found == family) return {};
  return {
      fmt::format("must be of the IP family of spec.range, which is {}", ip::FamilyText(*family))};
}

Problems ExcludedPortProblems(std::string_view text) { return PortsTextProblems(text); }

std::optional<ip::PortRange> ReadPorts(std::string_view text) {
  if (!PortsTextProblems(text).empty()) return std::nullopt;
  const auto ends = ReadEnds(text);
  return ip::PortRange(static_cast<uint16_t>(ends->first), static_cast<uint16_t>(ends->last));
}

std::optional<ExcludedAddresses> ReadExcludedAddresses(std::string_view text, ip::Family family) {
  if (text.find('/') == std::string_view::npos) {
    const auto address = ip::ParseAddr(text);
    if (!address || address->family() != family) return std::nullopt;
    return ExcludedAddresses{.first = address->bits(), .last = address->bits()};
  }
  const auto cidr = ip::ParseCidr(text);
  if (!cidr || cidr->family() != family) return std::nullopt;
  return ExcludedAddresses{.first = cidr->First().bits(), .last = cidr->Last().bits()};
}

void ValidateRangeOptions(FieldErrors& errors, const codec::Value& range,
                          const std::function<Problems(std::string_view)>& problems_of) {
  const Path spec("spec");
  if (const int64_t band = IntAt(range, "spec", "staticBand"); band < 0) {
    errors.Invalid(spec.Child("staticBand"), band, "must be greater than or equal to 0");
  }
  const codec::Array& excluded = ArrayAt(range, "spec", "excluded");
  const Path path = spec.Child("excluded");
  if (excluded.size() > kMostExcluded) {
    errors.TooMany(path, excluded.size(), kMostExcluded);
  } else {
    for (size_t i = 0; i < excluded.size(); ++i) {
      const std::string_view text = Text(&excluded[i]);
      const Problems problems = problems_of(text);
      if (!problems.empty()) errors.InvalidEach(path.Index(i), text, problems);
    }
  }
  const int64_t seconds = IntAt(range, "spec", "coolDownSeconds");
  if (seconds < 0 || seconds > kMostSeconds) {
    errors.Invalid(spec.Child("coolDownSeconds"), seconds,
                   fmt::format("must be between 0 and {}, inclusive", kMostSeconds));
  }
}

void PrepareRangeCreate(codec::Value& range) {
  EraseAt(range, {"status"});
  SetAt(range, {"metadata", "generation"}, 1);
}

void PrepareRangeUpdate(codec::Value& range, const codec::Value& old) {
  CopyAt(range, old, {"status"});
  if (Same(FindAt(range, "spec"), FindAt(old, "spec"))) return;
  SetAt(range, {"metadata", "generation"}, IntAt(old, "metadata", "generation") + 1);
}

void PrepareRangeStatusUpdate(codec::Value& range, const codec::Value& old) {
  CopyAt(range, old, {"spec"});
  for (const std::string_view field : {"deletionTimestamp", "generation", "labels", "annotations",
                                       "finalizers", "ownerReferences"}) {
    CopyAt(range, old, {"metadata", field});
  }
}

FieldErrors ValidateRangeStatusUpdate(const codec::Value& range, const codec::Value& old) {
  return ValidateMetadataUpdate(range, old, FinalizerRule::kAny);
}

FieldErrors ValidateStaticBand(const codec::Value& range) {
  FieldErrors errors;
  const codec::Value* band = codec::FindAt(range, "spec", "staticBand");
  if (band == nullptr) return errors;
  const std::string_view text = codec::StringAt(range, "spec", "range");
  const alloc::RangeOptions options{.static_band = band->AsUint().value_or(0)};
  base::Result<alloc::Layout> layout;
  if (const auto cidr = ip::ParseCidr(text)) {
    layout = alloc::LayoutOf(*cidr, options);
  } else if (const auto ports = ReadPorts(text)) {
    layout = alloc::LayoutOf(*ports, options);
  }
  if (!layout) errors.Invalid(Path("spec.staticBand"), *band, layout.error().message);
  return errors;
}

}  // namespace berth::rules
