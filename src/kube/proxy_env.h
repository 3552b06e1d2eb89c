// The proxy for a server, as the environment variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY say it,
// with the rules of Go's programs. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kube/server_url.h"

namespace berth::kube {

/// Returns the value of an environment variable, or "" if it is not set.
using VariableReader = std::function<std::string(std::string_view name)>;

/// Returns the URL of the proxy for requests to `server`, or "" if they go there directly. The
/// names in upper case count before those in lower case. A proxy without a scheme is an HTTP proxy.
/// An error names the variable.
base::Result<std::string> ProxyFromEnvironment(const ServerUrl& server,
                                               const VariableReader& variable);

/// Returns whether requests to this host go around a proxy: always for localhost and loopback
/// addresses, otherwise if an entry of `no_proxy` matches. Entries are separated by commas. An
/// entry is an address, a CIDR, a domain that covers its subdomains, a domain after "." or "*."
/// that covers only these, or "*". An address or a domain may have a port.
bool GoesAroundProxy(std::string_view no_proxy, std::string_view host, uint16_t port);

}  // namespace berth::kube
