// The configuration file of `berth serve`: YAML or JSON, one member per flag, named as the flag.
//
//   service-cluster-ip-range: 10.96.0.0/16
//   secure-port: 6443
//   etcd-servers: [https://10.0.0.5:2379, https://10.0.0.6:2379]
#pragma once

#include <map>
#include <string>

#include "base/result.h"

namespace berth::cli {

/// What each flag is set to, as text; a list as its entries joined by commas. Names are not checked
/// here.
base::Result<std::map<std::string, std::string>> ReadConfigFile(const std::string& path);

}  // namespace berth::cli
