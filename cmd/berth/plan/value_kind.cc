#include "berth/plan/value_kind.h"

#include "ip/addr.h"

namespace berth::cli {

std::string ValueText(ValueKind kind, U128 value) {
  switch (kind) {
    case ValueKind::kIpv4:
      return ip::Addr(ip::Family::kV4, value).ToString();
    case ValueKind::kIpv6:
      return ip::Addr(ip::Family::kV6, value).ToString();
    case ValueKind::kNodePort:
      break;
  }
  return base::ToDecimal(value);
}

std::string_view KindName(ValueKind kind) {
  if (kind == ValueKind::kNodePort) return "NodePort";
  return kind == ValueKind::kIpv4 ? "IPv4" : "IPv6";
}

std::string_view KindNoun(ValueKind kind, U128 count) {
  if (kind == ValueKind::kNodePort) return count == 1 ? "node port" : "node ports";
  if (kind == ValueKind::kIpv4) return count == 1 ? "IPv4 address" : "IPv4 addresses";
  return count == 1 ? "IPv6 address" : "IPv6 addresses";
}

std::string_view ShortNoun(ValueKind kind, U128 count) {
  if (kind == ValueKind::kNodePort) return count == 1 ? "port" : "ports";
  return count == 1 ? "address" : "addresses";
}

}  // namespace berth::cli
