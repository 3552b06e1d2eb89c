// What a Service holds of the values that no two Services may have: addresses, node ports and the
// health check port; and what a write of it takes and gives back. One place says what is held, so
// that what a create takes is what a delete gives back, whatever happened in between.
//
//   const ServiceClaims claims = ClaimsOf(service, old);
//   ... each claim is granted a value, in order, or the write is refused ...
//   FillClaims(service, claims, addresses, ports);
//
// An ExternalName holds nothing: node ports in it are neither reserved, nor given back, nor trusted
// when it becomes something else. What a Service holds it keeps without being asked again, even if
// it could not be had in that way today. Pure; nothing fails, whatever the objects hold.
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

/// Each value once. What cannot be read as an address or a port number is not held.
struct Holdings {
  std::vector<ip::Addr> addresses;
  std::vector<uint16_t> ports;

  bool operator==(const Holdings&) const = default;
};

Holdings HoldingsOf(const codec::Value& service);

struct AddressClaim {
  size_t position;  ///< in clusterIPs
  ip::Family family;
  std::optional<ip::Addr> wanted;  ///< nothing: any
};

struct PortClaim {
  /// As the client wrote it, so it may lie outside every range. Nothing: any.
  std::optional<int64_t> wanted;
  /// Those of spec.ports that get the number; the first is where an error belongs. None: it is for
  /// healthCheckNodePort.
  std::vector<size_t> ports;
  /// The Service itself has this number for something it cannot share it with: as good as taken.
  bool taken = false;

  bool IsHealthCheck() const { return ports.empty(); }
};

/// A port without a number that gets one the Service holds already.
struct SharedPort {
  size_t port;  ///< in spec.ports
  int64_t number;
};

struct ServiceClaims {
  std::vector<AddressClaim> addresses;
  /// Given values before any, so that none is drawn that the same Service asks for; the health
  /// check port after the others.
  std::vector<PortClaim> ports;
  std::vector<SharedPort> shared;
  Holdings gives;

  bool IsEmpty() const {
    return addresses.empty() && ports.empty() && shared.empty() && gives == Holdings();
  }
};

/// `service` is the new state, complete and valid: families decided, what is kept carried over.
/// `old` is the stored one, null on create.
ServiceClaims ClaimsOf(const codec::Value& service, const codec::Value* old);

/// For a delete: gives back all that `old` holds.
ServiceClaims ClaimsOfRemoved(const codec::Value& old);

/// Of a Service that is written without taking anything: what nobody reserved for it is not in it.
void ForgetHoldings(codec::Value& service);

/// What a Service has one of its node ports for.
struct PortPurpose {
  uint16_t number;
  /// Those of spec.ports that have it. None: it is the health check's.
  std::vector<size_t> ports;

  bool IsHealthCheck() const { return ports.empty(); }
};
/// Of each of them, in the order of the numbers. What it holds, and no more: see HoldingsOf.
std::vector<PortPurpose> PurposesOf(const codec::Value& service);

/// The annotations by which a Service names the ranges that it wants new values from. The health
/// check port is of no such range: nobody reaches the Service through it.
inline constexpr std::string_view kIpRangeAnnotation = "allocation.berth.io/ip-range";
inline constexpr std::string_view kNodePortRangeAnnotation = "allocation.berth.io/node-port-range";
/// The names in one of them, which commas separate. Valid until the Service changes.
std::vector<std::string_view> NamedRanges(const codec::Value& service, std::string_view annotation);

/// clusterIPs as wanted: "" where an address will be chosen.
codec::Array WantedClusterIps(const codec::Value& service);

/// Writes in what was granted, claim by claim, and what is shared: to be called even if there are
/// no claims. A given address keeps the client's text.
void FillClaims(codec::Value& service, const ServiceClaims& claims,
                std::span<const ip::Addr> addresses, std::span<const uint16_t> ports);

}  // namespace berth::rules
