// The configuration file of `berth serve`: YAML or JSON, one member per flag, named as the flag.
//
//   service-cluster-ip-range: 10.96.0.0/16
//   secure-port: 6443
//   etcd-servers: [https://10.0.0.5:2379, https://10.0.0.6:2379]
//   feature-gates: {ServiceIPStaticSubrange: true}
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace berth::cli {

/// Returns the text of each flag as on a command line: the entries of a list, or the `name=value`
/// of a map, are joined by commas. Returns an error if a name is set twice, but does not check that
/// the flags exist.
base::Result<std::map<std::string, std::string>> ReadConfigFile(const std::string& path);

}  // namespace berth::cli
