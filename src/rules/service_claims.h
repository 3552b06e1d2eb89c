// The values that a Service holds and no other Service may have (addresses, node ports and the
// health check port), and the values that a write of it takes and releases. Only this file decides
// what is held, so a delete releases what a create took, whatever happened in between.
//
//   const ServiceClaims claims = ClaimsOf(service, old);
//   ... each claim is granted a value, in order, or the write is refused ...
//   FillClaims(service, claims, addresses, ports);
//
// An ExternalName Service holds nothing: its node ports are neither reserved, nor released, nor
// trusted when its type changes. A Service keeps what it holds without another check, even if it
// could not get the same values today. Pure. Nothing fails, whatever the objects contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "codec/value.h"
#include "ip/addr.h"

namespace berth::rules {

/// Each value appears once. Text that is not a valid address or port number is not held.
struct Holdings {
  std::vector<ip::Addr> addresses;
  std::vector<uint16_t> ports;

  bool operator==(const Holdings&) const = default;
};

Holdings HoldingsOf(const codec::Value& service);

/// The fields of a Service that say what it holds, wherever they are read from.
struct HoldingFields {
  std::string_view type = {};
  std::string_view cluster_ip = {};
  std::string_view external_traffic_policy = {};
  std::vector<std::string_view> cluster_ips = {};
  std::vector<int64_t> node_ports = {};  ///< In any order.
  int64_t health_check_node_port = 0;
};
Holdings HoldingsOf(const HoldingFields& fields);

struct AddressClaim {
  size_t position;  ///< Position in clusterIPs.
  ip::Family family;
  std::optional<ip::Addr> wanted;  ///< Nullopt means any address.
};

struct PortClaim {
  /// The number as the client wrote it, so it may lie outside every range. Nullopt means any port.
  std::optional<int64_t> wanted;
  /// Positions in spec.ports that get the number. An error belongs to the first of them. Empty
  /// means that the claim is for healthCheckNodePort.
  std::vector<size_t> ports;
  /// The Service itself uses this number for something that cannot share it. The claim is treated
  /// as if the number were taken.
  bool taken = false;

  bool IsHealthCheck() const { return ports.empty(); }
};

/// A port without a number that gets a number which the Service already holds.
struct SharedPort {
  size_t port;  ///< Position in spec.ports.
  int64_t number;
};

struct ServiceClaims {
  std::vector<AddressClaim> addresses;
  /// Claims for a given value come before claims for any value, so that a pick cannot return a
  /// number that the same Service asks for. The health check port comes after the others.
  std::vector<PortClaim> ports;
  std::vector<SharedPort> shared;
  Holdings gives;

  bool IsEmpty() const {
    return addresses.empty() && ports.empty() && shared.empty() && gives == Holdings();
  }
};

/// Returns the claims of a write. `service` is the new state, complete and valid: families are
/// decided, and kept values are carried over. `old` is the stored one, or null on create.
ServiceClaims ClaimsOf(const codec::Value& service, const codec::Value* old);

/// Removes the values that a Service would hold. For a Service that is written without claiming
/// them.
void ForgetHoldings(codec::Value& service);

/// What a Service uses one of its node ports for.
struct PortPurpose {
  uint16_t number;
  /// Positions in spec.ports that have the number. Empty means that it is the health check's.
  std::vector<size_t> ports;

  bool IsHealthCheck() const { return ports.empty(); }
};
/// Returns the purpose of each held port, ordered by number. It covers exactly the ports of
/// HoldingsOf.
std::vector<PortPurpose> PurposesOf(const codec::Value& service);

/// The annotations in which a Service names the ranges that it wants new values from. They do not
/// apply to the health check port, because clients do not reach the Service through it.
inline constexpr std::string_view kIpRangeAnnotation = "allocation.berth.io/ip-range";
inline constexpr std::string_view kNodePortRangeAnnotation = "allocation.berth.io/node-port-range";
/// Returns the comma-separated names in one of them. Valid until the Service changes.
std::vector<std::string_view> NamedRanges(const codec::Value& service, std::string_view annotation);

/// Returns the requested clusterIPs, with "" where an address will be chosen.
codec::Array WantedClusterIps(const codec::Value& service);

/// Writes the granted values, claim by claim, and the shared ones into the Service. It must be
/// called even if there are no claims. A given address keeps the client's text.
void FillClaims(codec::Value& service, const ServiceClaims& claims,
                std::span<const ip::Addr> addresses, std::span<const uint16_t> ports);

}  // namespace berth::rules
