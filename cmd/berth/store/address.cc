#include "berth/store/address.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/go_text.h"

namespace berth::cli {
namespace {

constexpr std::string_view kEmbedded = "embedded:";
constexpr std::string_view kEtcd = "etcd:";

tl::unexpected<base::Error> BadAddress(std::string_view text, std::string_view why) {
  return base::Fail(base::Reason::kInvalid, fmt::format("{}: {}", base::GoQuoted(text), why));
}

}  // namespace

std::string Address::Text() const {
  if (IsEmbedded()) return fmt::format("{}{}", kEmbedded, directory);
  return fmt::format("{}{}", kEtcd, fmt::join(endpoints, ","));
}

base::Result<Address> ParseAddress(std::string_view text) {
  Address address;
  if (text.starts_with(kEmbedded)) {
    address.directory = text.substr(kEmbedded.size());
    if (address.directory.empty())
      return BadAddress(text, "a directory is missing after embedded:");
    return address;
  }
  if (!text.starts_with(kEtcd)) {
    return BadAddress(
        text, "must be embedded:DIR or etcd:URL[,URL...], as in etcd:https://10.0.0.5:2379");
  }
  for (std::string_view rest = text.substr(kEtcd.size()); !rest.empty();) {
    const std::string_view url = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(url.size() + 1, rest.size()));
    if (!url.starts_with("http://") && !url.starts_with("https://")) {
      return BadAddress(text,
                        fmt::format("{} must begin with https:// or http://", base::GoQuoted(url)));
    }
    address.endpoints.emplace_back(url);
  }
  if (address.endpoints.empty()) return BadAddress(text, "a URL is missing after etcd:");
  return address;
}

}  // namespace berth::cli
