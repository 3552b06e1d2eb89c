// A kubeconfig of any bytes leads to an access or to a refusal with a message that names the file.
// The access has a host, a port, and headers of one line each. Merging a file with itself changes
// nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "fuzz/require.h"
#include "kube/find_access.h"
#include "kube/kubeconfig.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using berth::base::Fail;
  using berth::base::Reason;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const berth::base::ManualClock clock;
  berth::kube::Surroundings around{.environment = {"KUBECONFIG=/config:/none:/config2"},
                                   .clock = &clock};
  around.read_file = [&](const std::string& path) -> berth::base::Result<std::string> {
    if (path == "/config" || path == "/config2") return text;
    if (path == "/none") return Fail(Reason::kNotFound, "No such file or directory");
    return std::string("-----BEGIN THING-----");
  };
  const auto parsed = berth::kube::ParseKubeconfig(text, "/config");
  const auto access = berth::kube::FindAccess({}, around);
  if (!parsed) {
    fuzz::Require(parsed.error().message.find("/config") != std::string::npos);
    fuzz::Require(!access.has_value());
    return 0;
  }
  berth::kube::Kubeconfig merged = *parsed;
  berth::kube::MergeKubeconfig(merged, *parsed);
  fuzz::Require(merged.current_context == parsed->current_context &&
                merged.users.size() == parsed->users.size());
  if (!access) {
    fuzz::Require(!access.error().message.empty());
    return 0;
  }
  fuzz::Require(!access->client.host.empty() && access->client.port != 0);
  for (const auto& [name, value] : access->headers) {
    fuzz::Require(name.starts_with("Impersonate-"));
    fuzz::Require(name.find_first_of(": \r\n") == std::string::npos);
    fuzz::Require(value.find_first_of("\r\n") == std::string::npos);
  }
  return 0;
}
