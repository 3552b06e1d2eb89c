// The address at which other machines reach this server. It becomes part of the endpoints of
// default/kubernetes.
#pragma once

#include <optional>
#include <string>

#include "ip/addr.h"

namespace berth::cli {

/// Returns whether other machines can use an address: it is neither unspecified nor one of the
/// machine itself or of a link.
bool IsReachable(const ip::Addr& addr);

/// Returns the flag --advertise-address if it is set. Otherwise returns the address that the server
/// listens on, or, if others cannot use that, the one from which this machine reaches other
/// networks, as kube-apiserver does. Returns nullopt if the machine has none. Sends nothing.
std::optional<ip::Addr> AdvertisedAddress(const std::string& flag, const std::string& bind_address);

}  // namespace berth::cli
