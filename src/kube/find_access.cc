#include "kube/find_access.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/go_text.h"
#include "kube/exec_answer.h"
#include "kube/exec_plugin.h"
#include "kube/kubeconfig.h"
#include "kube/kubeconfig_entries.h"
#include "kube/proxy_env.h"
#include "kube/request_timeout.h"
#include "kube/server_url.h"
#include "kube/user_credentials.h"

namespace berth::kube {
namespace {

using base::Result;

constexpr std::string_view kServiceAccount = "/var/run/secrets/kubernetes.io/serviceaccount";
constexpr size_t kMostNamesShown = 20;

/// What was found, before flags are applied.
struct Found {
  std::string origin = {};
  ClusterSettings cluster = {};
  UserSettings user = {};
  std::string name_space = {};
  /// What to do if the certificate of the server is for other names. May be empty.
  std::string name_advice = {};
};

tl::unexpected<base::Error> NotFound(std::string why) {
  return base::Fail(base::Reason::kInvalid, std::move(why));
}

std::string FilesText(const Kubeconfig& config) {
  return fmt::to_string(fmt::join(config.files, ", "));
}

/// Returns the names of entries, for an error about one that does not exist.
std::string NamesText(const ConfigEntries& entries, std::string_view what) {
  if (entries.empty()) return fmt::format("there are no {}", what);
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) {
    if (names.size() == kMostNamesShown) break;
    names.push_back(base::ToVisible(name));
  }
  const size_t more = entries.size() - names.size();
  return fmt::format("it has the {}: {}{}", what, fmt::join(names, ", "),
                     more == 0 ? "" : fmt::format(" and {} more", more));
}

/// Returns the files that were looked for, as the middle of a sentence.
std::string LookedFor(const Kubeconfig& config, const Surroundings& around) {
  if (around.Variable("KUBECONFIG").empty()) {
    if (config.missing.empty() && config.files.empty()) return "$KUBECONFIG and $HOME are not set";
    return fmt::format("$KUBECONFIG is not set, {} {}",
                       config.missing.empty() ? config.files[0] : config.missing[0],
                       config.missing.empty() ? "is empty" : "does not exist");
  }
  std::vector<std::string> parts;
  if (!config.missing.empty()) {
    parts.push_back(fmt::format("{} of $KUBECONFIG {} not exist", fmt::join(config.missing, ", "),
                                config.missing.size() == 1 ? "does" : "do"));
  }
  if (!config.files.empty()) {
    parts.push_back(
        fmt::format("{} {} empty", FilesText(config), config.files.size() == 1 ? "is" : "are"));
  }
  return fmt::to_string(fmt::join(parts, ", "));
}

/// Returns the settings of the pod that this program runs in, or nullopt if it is not in a pod.
std::optional<Found> FindPod(const Surroundings& around) {
  const std::string host = around.Variable("KUBERNETES_SERVICE_HOST");
  const std::string port = around.Variable("KUBERNETES_SERVICE_PORT");
  const std::string token_file = fmt::format("{}/token", kServiceAccount);
  if (host.empty() || port.empty() || !around.read_file(token_file)) return std::nullopt;
  const bool v6 = host.find(':') != std::string::npos;
  const std::string who = "the service account of this pod";
  Found found{.origin = who,
              .cluster = {.where = who,
                          .server = fmt::format("https://{}:{}",
                                                v6 ? fmt::format("[{}]", host) : host, port),
                          .authority = {.path = fmt::format("{}/ca.crt", kServiceAccount)}},
              .user = {.where = who, .token_file = token_file},
              .name_space = around.Variable("POD_NAMESPACE")};
  if (found.name_space.empty()) {
    const auto name_space = around.read_file(fmt::format("{}/namespace", kServiceAccount));
    if (name_space) found.name_space = base::GoTrimSpace(*name_space);
  }
  return found;
}

/// Reads what a context refers to.
Result<Found> FindContext(const Kubeconfig& config, const ConfigEntry& entry, bool has_server) {
  const std::string where =
      fmt::format("context {} in {}, line {}", base::GoQuoted(entry.name), entry.file, entry.line);
  const auto context = ReadContext(entry);
  if (!context) return tl::unexpected(context.error());
  Found found{.origin = fmt::format("context {} of {}", base::GoQuoted(entry.name), entry.file),
              .cluster = {},
              .user = {},
              .name_space = context->name_space};
  if (const auto at = config.clusters.find(context->cluster); at != config.clusters.end()) {
    auto cluster = ReadCluster(at->second);
    if (!cluster) return tl::unexpected(cluster.error());
    found.cluster = *std::move(cluster);
    found.name_advice =
        fmt::format("if it is the right server, set tls-server-name of {} to one of these names",
                    found.cluster.where);
  } else if (!has_server) {
    return BadEntry(where, context->cluster.empty()
                               ? "it names no cluster"
                               : fmt::format("the cluster {} does not exist in {}; {}",
                                             base::GoQuoted(context->cluster), FilesText(config),
                                             NamesText(config.clusters, "clusters")));
  }
  if (context->user.empty()) return found;
  const auto at = config.users.find(context->user);
  if (at == config.users.end()) {
    return BadEntry(
        where, fmt::format("the user {} does not exist in {}; {}", base::GoQuoted(context->user),
                           FilesText(config), NamesText(config.users, "users")));
  }
  auto user = ReadUser(at->second);
  if (!user) return tl::unexpected(user.error());
  found.user = *std::move(user);
  return found;
}

Result<Found> FindSettings(const AccessOptions& options, const Surroundings& around) {
  const auto config = LoadKubeconfig(options.kubeconfig, around);
  if (!config) return tl::unexpected(config.error());
  const std::string& name = options.context.empty() ? config->current_context : options.context;
  if (config->IsEmpty() && options.context.empty()) {
    if (!options.server.empty()) return Found{.origin = "--server"};
    if (!options.kubeconfig.empty()) {
      return NotFound(fmt::format("the kubeconfig {} is empty", options.kubeconfig));
    }
    if (auto pod = FindPod(around)) return *std::move(pod);
    return NotFound(fmt::format(
        "no cluster is known: {}, and this program does not run in a pod; name a kubeconfig with "
        "--kubeconfig or $KUBECONFIG, or a server with --server",
        LookedFor(*config, around)));
  }
  if (name.empty()) {
    if (!options.server.empty()) return Found{.origin = "--server"};
    return NotFound(fmt::format("{} sets no current-context; {}; choose one with --context",
                                FilesText(*config), NamesText(config->contexts, "contexts")));
  }
  const auto entry = config->contexts.find(name);
  if (entry == config->contexts.end()) {
    if (config->files.empty()) {
      return NotFound(fmt::format("context {} does not exist: {}", base::GoQuoted(name),
                                  LookedFor(*config, around)));
    }
    return NotFound(fmt::format("context {} does not exist in {}; {}", base::GoQuoted(name),
                                FilesText(*config), NamesText(config->contexts, "contexts")));
  }
  return FindContext(*config, entry->second, !options.server.empty());
}

/// Replaces settings by flags. A flag about the certificate authority replaces all that the cluster
/// says about it, and another server has another name in its certificate.
void ApplyFlags(const AccessOptions& options, Found& found) {
  ClusterSettings& cluster = found.cluster;
  if (!options.server.empty()) {
    cluster.server = options.server;
    cluster.where = "--server";
    cluster.tls_server_name.clear();
    found.name_advice = "if it is the right server, use one of these names in --server";
  }
  if (options.insecure_skip_tls_verify || !options.certificate_authority.empty()) {
    cluster.insecure = options.insecure_skip_tls_verify;
    cluster.authority = {.pem = {}, .path = options.certificate_authority};
  }
  if (!options.tls_server_name.empty()) cluster.tls_server_name = options.tls_server_name;
  if (!options.proxy_url.empty()) cluster.proxy_url = options.proxy_url;
  UserSettings& user = found.user;
  if (!options.token.empty()) {
    user.where = "--token";
    user.token = options.token;
    user.token_file.clear();
    user.username.clear();
    user.password.clear();
    // An API server goes by the certificate if it gets both.
    user.certificate = {};
    user.key = {};
    user.exec.reset();
    user.auth_provider.clear();
  }
  if (!options.as.empty()) user.impersonation.user = options.as;
  if (!options.as_uid.empty()) user.impersonation.uid = options.as_uid;
  if (!options.as_groups.empty()) user.impersonation.groups = options.as_groups;
}

std::string_view ReplacementOf(std::string_view auth_provider) {
  if (auth_provider == "gcp") {
    return "install gke-gcloud-auth-plugin and run `gcloud container clusters get-credentials`";
  }
  if (auth_provider == "azure") return "install kubelogin and run `kubelogin convert-kubeconfig`";
  if (auth_provider == "oidc") {
    return "use an exec plugin instead, such as `kubectl oidc-login` (kubelogin)";
  }
  return "use an exec plugin instead";
}

/// Refuses combinations that kubectl refuses too.
Result<void> CheckUser(const UserSettings& user) {
  if (!user.auth_provider.empty()) {
    return BadEntry(user.where, fmt::format("the auth-provider {} is no longer supported, by "
                                            "kubectl neither: {}",
                                            base::GoQuoted(user.auth_provider),
                                            ReplacementOf(user.auth_provider)));
  }
  const bool basic = !user.username.empty() || !user.password.empty();
  if (basic && (!user.token.empty() || !user.token_file.empty())) {
    return BadEntry(user.where, "it has a token and also a username or password; keep one of them");
  }
  if (user.certificate.IsEmpty() != user.key.IsEmpty()) {
    return BadEntry(user.where, user.key.IsEmpty()
                                    ? "it has a client-certificate but no client-key"
                                    : "it has a client-key but no client-certificate");
  }
  return {};
}

/// Makes the credentials of a user, or returns null if requests carry no identity. As for kubectl,
/// a plugin is used only if the user has no other way to log in.
Result<std::shared_ptr<Credentials>> MakeCredentials(const Found& found,
                                                     const std::string& authority_pem,
                                                     const Surroundings& around) {
  const UserSettings& user = found.user;
  if (auto checked = CheckUser(user); !checked) return tl::unexpected(checked.error());
  const bool has_own = !user.token.empty() || !user.token_file.empty() || !user.username.empty() ||
                       !user.password.empty() || !user.certificate.IsEmpty();
  if (has_own) return std::make_shared<UserCredentials>(user, around);
  if (!user.exec) return nullptr;
  return std::make_shared<ExecPlugin>(*user.exec, user.where,
                                      user.exec->provide_cluster_info
                                          ? ExecClusterInfo(found.cluster, authority_pem)
                                          : codec::Value(),
                                      around);
}

Result<std::string> FindProxy(const ClusterSettings& cluster, const ServerUrl& url,
                              const Surroundings& around) {
  if (cluster.proxy_url.empty()) {
    return ProxyFromEnvironment(url,
                                [&around](std::string_view name) { return around.Variable(name); });
  }
  auto proxy = CheckProxyUrl(cluster.proxy_url);
  if (!proxy) return BadEntry(cluster.where, "its proxy-url " + proxy.error().message);
  return proxy;
}

/// Returns whether nothing is gained by compressing what this host sends.
bool IsLoopback(std::string_view host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

/// Fills in how to connect. Returns the certificate authority, which may be empty.
Result<std::string> FillClient(const ClusterSettings& cluster, const Surroundings& around,
                               Access& access) {
  if (cluster.server.empty()) return BadEntry(cluster.where, "it has no server");
  auto url = ParseServerUrl(cluster.server);
  if (!url) {
    return BadEntry(cluster.where, fmt::format("the server {} {}", base::GoQuoted(cluster.server),
                                               url.error().message));
  }
  auto proxy = FindProxy(cluster, *url, around);
  if (!proxy) return proxy;
  access.url = cluster.server;
  access.client.host = std::move(url->host);
  access.client.port = url->port;
  access.client.proxy_url = *std::move(proxy);
  access.client.gzip = !cluster.disable_compression && !IsLoopback(access.client.host);
  access.path_prefix = std::move(url->path_prefix);
  if (!url->tls) return std::string();
  if (cluster.insecure && !cluster.authority.IsEmpty()) {
    return BadEntry(cluster.where,
                    "it has insecure-skip-tls-verify and also a certificate-authority; remove one "
                    "of them");
  }
  auto authority =
      LoadPem(cluster.authority, "certificate-authority", cluster.where, around.read_file);
  if (!authority) return authority;
  access.client.tls = http::ClientTls{
      .ca_pem = *authority, .server_name = cluster.tls_server_name, .verify = !cluster.insecure};
  return authority;
}

}  // namespace

Result<Access> FindAccess(const AccessOptions& options, const Surroundings& around) {
  const auto timeout = ParseRequestTimeout(options.request_timeout);
  if (!timeout) return tl::unexpected(timeout.error());
  auto found = FindSettings(options, around);
  if (!found) return tl::unexpected(std::move(found.error()));
  ApplyFlags(options, *found);

  Access access{.origin = found->origin, .request_timeout = *timeout};
  const auto authority = FillClient(found->cluster, around, access);
  if (!authority) return tl::unexpected(authority.error());
  auto headers = ImpersonationHeaders(found->user.impersonation);
  if (!headers) {
    return BadEntry(found->user.where.empty() ? "--as" : found->user.where,
                    headers.error().message);
  }
  access.headers = *std::move(headers);
  if (!found->name_space.empty()) access.name_space = found->name_space;
  if (!access.client.tls) return access;
  access.client.tls->name_advice = found->name_advice;
  auto credentials = MakeCredentials(*found, *authority, around);
  if (!credentials) return tl::unexpected(std::move(credentials.error()));
  access.credentials = *std::move(credentials);
  return access;
}

}  // namespace berth::kube
