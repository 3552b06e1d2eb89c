#include "kube/kubeconfig_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/base64.h"
#include "base/go_text.h"
#include "codec/json.h"
#include "codec/read.h"

namespace berth::kube {
namespace {

using base::Result;
using codec::Value;

constexpr std::string_view kExecV1 = "client.authentication.k8s.io/v1";
constexpr std::string_view kExecV1Beta1 = "client.authentication.k8s.io/v1beta1";
constexpr std::string_view kExecExtension = "client.authentication.k8s.io/exec";

/// Reads the fields of one object. A field that is missing or null reads as empty. The first field
/// of the wrong type is remembered as the fault, so that callers check once at the end.
class FieldReader {
 public:
  FieldReader(const Value& object, std::string prefix, std::optional<std::string>& fault)
      : object_(object), prefix_(std::move(prefix)), fault_(fault) {}

  std::string Text(std::string_view key) {
    const Value* value = Present(key);
    if (value == nullptr) return {};
    if (const std::string* text = value->AsString()) return *text;
    Fault(key, "is not a text; put it into quotes");
    return {};
  }

  bool Flag(std::string_view key) {
    const Value* value = Present(key);
    if (value == nullptr) return false;
    if (const auto flag = value->AsBool()) return *flag;
    Fault(key, "is neither true nor false");
    return false;
  }

  std::vector<std::string> List(std::string_view key) {
    std::vector<std::string> texts;
    for (const Value& item : Items(key)) {
      if (const std::string* text = item.AsString()) {
        texts.push_back(*text);
      } else {
        Fault(key, "contains something that is not a text; put it into quotes");
      }
    }
    return texts;
  }

  const codec::Array& Items(std::string_view key) {
    static const codec::Array empty;
    const Value* value = Present(key);
    if (value == nullptr) return empty;
    if (const codec::Array* items = value->AsArray()) return *items;
    Fault(key, "is not a list");
    return empty;
  }

  const codec::Object& Members(std::string_view key) {
    static const codec::Object empty;
    const Value* value = Present(key);
    if (value == nullptr) return empty;
    if (const codec::Object* members = value->AsObject()) return *members;
    Fault(key, "is not a mapping");
    return empty;
  }

  /// Returns null if the field is missing or null.
  const Value* Present(std::string_view key) const {
    const Value* value = object_.Find(key);
    return value == nullptr || value->IsNull() ? nullptr : value;
  }

  void Fault(std::string_view key, std::string_view why) {
    if (!fault_) fault_ = fmt::format("{}{} {}", prefix_, key, why);
  }

 private:
  const Value& object_;
  std::string prefix_;
  std::optional<std::string>& fault_;
};

/// Returns a path as seen from the folder of the kubeconfig.
std::string Resolved(const std::string& file, const std::string& path) {
  if (path.empty()) return path;
  return (std::filesystem::path(file).parent_path() / path).string();
}

/// Reads `<key>-data`, or the path `<key>`.
PemSource ReadPem(FieldReader& fields, const std::string& file, const std::string& key) {
  PemSource source{.pem = {}, .path = Resolved(file, fields.Text(key))};
  std::string text = fields.Text(key + "-data");
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
  auto pem = base::FromBase64(text);
  if (!pem) {
    fields.Fault(key + "-data",
                 fmt::format("is not base64: character {} is wrong", pem.error() + 1));
    return source;
  }
  source.pem = *std::move(pem);
  if (!source.pem.empty() && source.pem.find("-----BEGIN ") == std::string::npos) {
    fields.Fault(key + "-data", "does not contain PEM (a block that begins with -----BEGIN)");
  }
  return source;
}

Value ReadExecExtension(FieldReader& fields) {
  for (const Value& item : fields.Items("extensions")) {
    if (codec::StringAt(item, "name") != kExecExtension) continue;
    const Value* extension = item.Find("extension");
    return extension == nullptr ? Value() : *extension;
  }
  return {};
}

InteractiveMode ReadMode(FieldReader& fields, std::string_view api_version) {
  const std::string mode = fields.Text("interactiveMode");
  if (mode == "Never") return InteractiveMode::kNever;
  if (mode == "IfAvailable") return InteractiveMode::kIfAvailable;
  if (mode == "Always") return InteractiveMode::kAlways;
  if (!mode.empty()) {
    fields.Fault("interactiveMode", fmt::format("is {}; it must be Never, IfAvailable or Always",
                                                base::GoQuoted(mode)));
  } else if (api_version != kExecV1Beta1) {
    fields.Fault(
        "interactiveMode",
        fmt::format("is not set, but {} requires it: Never, IfAvailable or Always", kExecV1));
  }
  return InteractiveMode::kIfAvailable;
}

ExecSettings ReadExec(const Value& value, const std::string& file,
                      std::optional<std::string>& fault) {
  FieldReader fields(value, "exec.", fault);
  ExecSettings exec{.api_version = fields.Text("apiVersion"), .command = fields.Text("command")};
  if (exec.command.empty()) fields.Fault("command", "is not set");
  if (exec.command.find('/') != std::string::npos) exec.command = Resolved(file, exec.command);
  if (exec.api_version.empty()) {
    fields.Fault("apiVersion",
                 fmt::format("is not set; it must be {} or {}", kExecV1, kExecV1Beta1));
  } else if (exec.api_version != kExecV1 && exec.api_version != kExecV1Beta1) {
    fields.Fault("apiVersion",
                 fmt::format("is {}; it must be {} or {}. Update the plugin and write its entry "
                             "again with its own command",
                             base::GoQuoted(exec.api_version), kExecV1, kExecV1Beta1));
  }
  exec.arguments = fields.List("args");
  for (const Value& item : fields.Items("env")) {
    FieldReader variable(item, "exec.env[].", fault);
    exec.environment.emplace_back(variable.Text("name"), variable.Text("value"));
    const std::string& name = exec.environment.back().first;
    if (name.empty() || name.find('=') != std::string::npos) {
      variable.Fault("name", "is not set, or contains '='");
    }
  }
  exec.interactive_mode = ReadMode(fields, exec.api_version);
  exec.provide_cluster_info = fields.Flag("provideClusterInfo");
  exec.install_hint = fields.Text("installHint");
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (has_nul(exec.command) || std::any_of(exec.arguments.begin(), exec.arguments.end(), has_nul) ||
      std::any_of(exec.environment.begin(), exec.environment.end(),
                  [&](const auto& one) { return has_nul(one.first) || has_nul(one.second); })) {
    fields.Fault("command", "or its arguments contain a zero byte");
  }
  return exec;
}

Impersonation ReadImpersonation(FieldReader& fields, std::optional<std::string>& fault) {
  Impersonation who{.user = fields.Text("as"),
                    .uid = fields.Text("as-uid"),
                    .groups = fields.List("as-groups"),
                    .extra = {}};
  const codec::Object& extra = fields.Members("as-user-extra");
  const Value as_value(extra);
  FieldReader values(as_value, "as-user-extra.", fault);
  for (const codec::Member& member : extra) {
    who.extra.emplace_back(member.key, values.List(member.key));
  }
  return who;
}

std::string WhereOf(std::string_view kind, const ConfigEntry& entry) {
  return fmt::format("{} {} in {}, line {}", kind, base::GoQuoted(entry.name), entry.file,
                     entry.line);
}

}  // namespace

tl::unexpected<base::Error> BadEntry(std::string_view where, std::string_view why) {
  return base::Fail(base::Reason::kInvalid, fmt::format("{}: {}", where, why));
}

Result<ContextSettings> ReadContext(const ConfigEntry& entry) {
  std::optional<std::string> fault;
  FieldReader fields(entry.body, "", fault);
  ContextSettings context{.cluster = fields.Text("cluster"),
                          .user = fields.Text("user"),
                          .name_space = fields.Text("namespace")};
  if (fault) return BadEntry(WhereOf("context", entry), *fault);
  return context;
}

Result<ClusterSettings> ReadCluster(const ConfigEntry& entry) {
  std::optional<std::string> fault;
  FieldReader fields(entry.body, "", fault);
  ClusterSettings cluster{.where = WhereOf("cluster", entry),
                          .server = fields.Text("server"),
                          .authority = ReadPem(fields, entry.file, "certificate-authority"),
                          .insecure = fields.Flag("insecure-skip-tls-verify"),
                          .tls_server_name = fields.Text("tls-server-name"),
                          .proxy_url = fields.Text("proxy-url"),
                          .disable_compression = fields.Flag("disable-compression"),
                          .exec_config = ReadExecExtension(fields)};
  if (fault) return BadEntry(cluster.where, *fault);
  return cluster;
}

Result<UserSettings> ReadUser(const ConfigEntry& entry) {
  std::optional<std::string> fault;
  FieldReader fields(entry.body, "", fault);
  UserSettings user{.where = WhereOf("user", entry),
                    .token = fields.Text("token"),
                    .token_file = Resolved(entry.file, fields.Text("tokenFile")),
                    .username = fields.Text("username"),
                    .password = fields.Text("password"),
                    .certificate = ReadPem(fields, entry.file, "client-certificate"),
                    .key = ReadPem(fields, entry.file, "client-key"),
                    .exec = {},
                    .auth_provider = {},
                    .impersonation = ReadImpersonation(fields, fault)};
  if (const Value* exec = fields.Present("exec")) {
    if (exec->AsObject() == nullptr) fields.Fault("exec", "is not a mapping");
    user.exec = ReadExec(*exec, entry.file, fault);
  }
  if (const Value* provider = fields.Present("auth-provider")) {
    user.auth_provider = FieldReader(*provider, "auth-provider.", fault).Text("name");
    if (user.auth_provider.empty()) user.auth_provider = "unknown";
  }
  if (fault) return BadEntry(user.where, *fault);
  return user;
}

}  // namespace berth::kube
