#include "berth/client/kubeconfig.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/base64.h"
#include "base/go_text.h"
#include "berth/files.h"
#include "codec/read.h"
#include "codec/yaml_read.h"

namespace berth::cli {
namespace {

using base::Result;
using codec::Value;

constexpr uint16_t kHttpsPort = 443;

/// Reads one file and says its name in every error.
class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path) {}

  tl::unexpected<base::Error> Bad(std::string_view why) const {
    return base::Fail(base::Reason::kInvalid,
                      fmt::format("the kubeconfig {} cannot be used: {}", path_, why));
  }

  /// The `member` of the entry with this name in a list of named entries.
  Result<const Value*> Named(const Value& root, std::string_view list, std::string_view member,
                             std::string_view name) const {
    for (const Value& entry : codec::ArrayAt(root, list)) {
      if (codec::StringAt(entry, "name") != name) continue;
      if (const Value* found = codec::FindAt(entry, member)) return found;
    }
    return Bad(fmt::format("it has no {} {}", member, base::GoQuoted(name)));
  }

  /// What stands in `<key>-data`, or in the file that `<key>` names; nothing when there is neither.
  Result<std::string> Material(const Value& from, const std::string& key) const {
    if (const std::string_view data = codec::StringAt(from, key + "-data"); !data.empty()) {
      auto bytes = base::FromBase64(data);
      if (!bytes) return Bad(fmt::format("{}-data is not base64", key));
      return *std::move(bytes);
    }
    const std::string_view file = codec::StringAt(from, key);
    if (file.empty()) return std::string();
    const auto folder = std::filesystem::path(path_).parent_path();
    return ReadFlagFile(key, (folder / file).string());
  }

  Result<void> SetServer(std::string_view url, ApiTarget& target) const {
    constexpr std::string_view kScheme = "https://";
    target.url = url;
    if (!url.starts_with(kScheme)) {
      return Bad(fmt::format("the server {} does not begin with https://", base::GoQuoted(url)));
    }
    std::string_view host = url.substr(kScheme.size());
    host = host.substr(0, host.find('/'));
    const size_t bracket = host.rfind(']');
    const size_t colon = host.rfind(':');
    target.client.port = kHttpsPort;
    if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
      const std::string_view port = host.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(port.data(), port.data() + port.size(), target.client.port);
      if (error != std::errc() || end != port.data() + port.size()) {
        return Bad(fmt::format("the server {} has no valid port", base::GoQuoted(url)));
      }
      host = host.substr(0, colon);
    }
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    target.client.host = host;
    return {};
  }

 private:
  const std::string& path_;
};

}  // namespace

Result<ApiTarget> ReadKubeconfig(const std::string& path) {
  const Reader reader(path);
  const auto text = ReadFlagFile("--kubeconfig", path);
  if (!text) return tl::unexpected(text.error());
  const auto parsed = codec::ParseYaml(*text);
  if (!parsed) return reader.Bad(parsed.error().message);
  const Value& root = parsed->value;
  const auto context =
      reader.Named(root, "contexts", "context", codec::StringAt(root, "current-context"));
  if (!context) return tl::unexpected(context.error());
  const auto cluster =
      reader.Named(root, "clusters", "cluster", codec::StringAt(**context, "cluster"));
  if (!cluster) return tl::unexpected(cluster.error());
  const auto user = reader.Named(root, "users", "user", codec::StringAt(**context, "user"));
  if (!user) return tl::unexpected(user.error());

  ApiTarget target;
  if (auto set = reader.SetServer(codec::StringAt(**cluster, "server"), target); !set) {
    return tl::unexpected(set.error());
  }
  http::ClientTls tls;
  tls.server_name = codec::StringAt(**cluster, "tls-server-name");
  for (const auto& [from, key, into] :
       {std::tuple{*cluster, "certificate-authority", &tls.ca_pem},
        std::tuple{*user, "client-certificate", &tls.certificate_pem},
        std::tuple{*user, "client-key", &tls.key_pem}}) {
    auto material = reader.Material(*from, key);
    if (!material) return tl::unexpected(material.error());
    *into = *std::move(material);
  }
  target.client.tls = std::move(tls);
  target.client.token = codec::StringAt(**user, "token");
  return target;
}

}  // namespace berth::cli
