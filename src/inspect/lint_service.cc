// Reads the Services of manifests for the checks: what they ask for, and what cannot be read.
#include <fmt/format.h>

#include <algorithm>

#include "api/core.h"
#include "base/go_text.h"
#include "codec/decode.h"
#include "codec/json.h"
#include "codec/read.h"
#include "inspect/lint_checks.h"
#include "rules/service_claims.h"
#include "rules/service_defaults.h"

namespace berth::inspect {
namespace {

using codec::Value;

const Service* FindPresent(const Cluster& cluster, std::string_view name_space,
                           std::string_view name) {
  const auto key = [](const Service& service) {
    return std::pair<std::string_view, std::string_view>(service.object.name_space,
                                                         service.object.name);
  };
  const std::pair<std::string_view, std::string_view> wanted(name_space, name);
  const auto found = std::ranges::lower_bound(cluster.services, wanted, {}, key);
  return found != cluster.services.end() && key(*found) == wanted ? &*found : nullptr;
}

/// Reports a field that is a placeholder, or of the wrong type. Returns false if it has to be left
/// out.
bool CheckField(LintContext& context, const LintService& service, std::string_view field,
                const Value* value, bool number) {
  if (value == nullptr || value->IsNull()) return true;
  const std::string* text = value->AsString();
  if (text != nullptr && IsPlaceholder(*text)) {
    LintFinding& finding = context.Add(LintRule::kNotRendered, service, field);
    finding.value = *text;
    finding.message = fmt::format("{} of Service {} is a placeholder and was not checked",
                                  base::ToVisible(*text), service.key);
    finding.advice = "Render the manifest first.";
    return false;
  }
  const bool good = number ? value->AsInt().has_value() : text != nullptr;
  if (good) return true;
  LintFinding& finding = context.Add(LintRule::kInvalidValue, service, field);
  finding.value = text != nullptr ? *text : codec::WriteJson(*value);
  finding.message = fmt::format(
      "{} of Service {} must be a {}, not {}", field, service.key, number ? "number" : "text",
      text != nullptr ? base::GoQuoted(*text) : base::ToVisible(finding.value));
  finding.why = "The API server cannot read the Service.";
  if (number && text != nullptr) finding.advice = "Write the number without quotes.";
  return false;
}

/// Removes the fields of `spec` that cannot be read, so that the others can be checked.
void CheckFields(LintContext& context, const LintService& service, Value& object) {
  Value* spec = object.Find("spec");
  if (spec == nullptr || spec->AsObject() == nullptr) return;
  const auto check = [&](const char* name, bool number) {
    if (!CheckField(context, service, fmt::format("spec.{}", name), spec->Find(name), number)) {
      spec->AsObject()->Erase(name);
    }
  };
  check("clusterIP", false);
  check("healthCheckNodePort", true);
  if (Value* list = spec->Find("clusterIPs"); list != nullptr && list->AsArray() != nullptr) {
    for (size_t i = 0; i < list->AsArray()->size(); ++i) {
      const Value& address = (*list->AsArray())[i];
      if (CheckField(context, service, fmt::format("spec.clusterIPs[{}]", i), &address, false)) {
        continue;
      }
      spec->AsObject()->Erase("clusterIPs");
      break;
    }
  }
  Value* ports = spec->Find("ports");
  if (ports == nullptr || ports->AsArray() == nullptr) return;
  for (size_t i = 0; i < ports->AsArray()->size(); ++i) {
    Value& port = (*ports->AsArray())[i];
    if (!CheckField(context, service, fmt::format("spec.ports[{}].nodePort", i),
                    port.Find("nodePort"), true)) {
      port.AsObject()->Erase("nodePort");
    }
  }
}

/// Handles node ports without a type. The API server refuses them, but the file may be a patch of a
/// Service whose type another file sets. So they are checked as node ports.
void CompleteType(LintContext& context, const LintService& service, Value& object) {
  if (codec::HasAt(object, "spec", "type")) return;
  const codec::Array& ports = codec::ArrayAt(object, "spec", "ports");
  const auto first = std::ranges::find_if(
      ports, [](const Value& port) { return codec::IntAt(port, "nodePort") != 0; });
  if (first == ports.end()) return;
  LintFinding& finding = context.Add(LintRule::kInvalidValue, service,
                                     fmt::format("spec.ports[{}].nodePort", first - ports.begin()));
  finding.severity = LintSeverity::kWarning;
  finding.message = fmt::format("Service {} has node ports, but no type", service.key);
  finding.why = "The API server refuses node ports of a Service of the default type, ClusterIP.";
  finding.advice =
      "Set the type. If this is a patch, check what it makes: kubectl kustomize | berth lint -";
  codec::SetAt(object, {"spec", "type"}, "NodePort");
}

void Decode(LintContext& context, LintService& service, const Value& object) {
  auto decoded = codec::DecodeValue(object, api::kService);
  if (!decoded) {
    service.complete = object;
    const bool is_template = IsPlaceholder(codec::WriteJson(object));
    LintFinding& finding = context.Add(
        is_template ? LintRule::kNotRendered : LintRule::kInvalidValue, service, "metadata.name");
    finding.message = fmt::format("the API server cannot read Service {}: {}", service.key,
                                  base::ToVisible(decoded.error().message));
    if (is_template) finding.advice = "Render the manifest first.";
    return;
  }
  service.complete = std::move(decoded->object);
  codec::SetAt(service.complete, {"metadata", "namespace"},
               service.key.substr(0, service.key.find('/')));
  rules::DefaultService(service.complete);
  rules::PrepareServiceCreate(service.complete);
  rules::SyncClusterIps(service.complete, nullptr);
  service.decoded = true;
}

void FindAsked(LintService& service) {
  const Value& object = service.complete;
  const codec::Array& ips = codec::ArrayAt(object, "spec", "clusterIPs");
  for (const ip::Addr& address : rules::HoldingsOf(object).addresses) {
    const auto same = [&](const Value& text) {
      const auto parsed = ip::ParseAddrLoose(codec::Text(&text));
      return parsed && parsed->addr == address;
    };
    const auto position = std::ranges::find_if(ips, same) - ips.begin();
    const bool singular = position == 0 && service.source->marks.contains("spec.clusterIP");
    service.asked.push_back(
        {.value = {.pool = alloc::PoolOf(address.family()), .value = address.bits()},
         .field = singular || ips.empty() ? "spec.clusterIP"
                                          : fmt::format("spec.clusterIPs[{}]", position)});
  }
  for (const rules::PortPurpose& purpose : rules::PurposesOf(object)) {
    service.asked.push_back(
        {.value = {.pool = alloc::PoolId::kPorts, .value = purpose.number},
         .health_check = purpose.IsHealthCheck(),
         .field = purpose.IsHealthCheck()
                      ? "spec.healthCheckNodePort"
                      : fmt::format("spec.ports[{}].nodePort", purpose.ports.front())});
  }
}

}  // namespace

LintService ReadLintService(LintContext& context, const Manifest& manifest,
                            const ManifestService& source) {
  LintService service{.manifest = &manifest, .source = &source};
  std::string_view name_space = codec::StringAt(source.object, "metadata", "namespace");
  if (name_space.empty()) name_space = context.options().name_space;
  std::string name(codec::StringAt(source.object, "metadata", "name"));
  if (name.empty()) {
    // Its name is made when it is created, so it is a Service of its own.
    name = fmt::format("{}({}:{})", codec::StringAt(source.object, "metadata", "generateName"),
                       manifest.file, source.MarkOf("").line);
  }
  service.key = base::ToVisible(fmt::format("{}/{}", name_space, name));
  service.present = FindPresent(context.census().cluster(), name_space, name);
  Value object = source.object;
  CheckFields(context, service, object);
  CompleteType(context, service, object);
  Decode(context, service, object);
  FindAsked(service);
  return service;
}

}  // namespace berth::inspect
