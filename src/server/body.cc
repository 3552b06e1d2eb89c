#include "server/body.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "api/meta.h"
#include "codec/read.h"
#include "registry/object_errors.h"

namespace berth::server {
namespace {

using codec::Value;

base::Result<codec::Decoded> Decode(Media media, std::string_view body, const api::Message& message,
                                    const codec::DecodeOptions& options) {
  switch (media) {
    case Media::kYaml:
      return codec::DecodeYaml(body, message, options);
    case Media::kProtobuf:
      return codec::DecodeProtobuf(body, message, options);
    case Media::kJson:
      break;
  }
  return codec::DecodeJson(body, message, options);
}

/// Checks kind and apiVersion. A body may omit them; otherwise they must be those of the path.
std::optional<base::Error> CheckIdentity(const codec::Decoded& decoded, const api::Kind& kind) {
  if (!decoded.kind.empty() && decoded.kind != kind.kind) {
    return base::Error{
        .reason = base::Reason::kBadRequest,
        .message = fmt::format("{} in version \"{}\" cannot be handled as a {}: converting "
                               "(v1.{}) to ({}.{}): unknown conversion",
                               decoded.kind, kind.version, kind.kind, decoded.kind,
                               GoPackage(kind.group), kind.kind)};
  }
  if (!decoded.api_version.empty() && decoded.api_version != kind.api_version) {
    return base::Error{.reason = base::Reason::kBadRequest,
                       .message = fmt::format("the API version in the data ({}) does not match the "
                                              "expected API version ({})",
                                              decoded.api_version, kind.api_version)};
  }
  return std::nullopt;
}

std::optional<registry::Propagation> PropagationOf(std::string_view policy) {
  if (policy == "Foreground") return registry::Propagation::kForeground;
  if (policy == "Orphan") return registry::Propagation::kOrphan;
  if (policy == "Background") return registry::Propagation::kBackground;
  return std::nullopt;
}

void TakePropagation(const Value& options, DeleteRequest& request, rules::FieldErrors& errors) {
  const Value* policy = options.Find("propagationPolicy");
  const Value* orphan = options.Find("orphanDependents");
  if (orphan != nullptr) {
    request.waits = !codec::BoolAt(options, "orphanDependents");
    request.options.propagation =
        request.waits ? registry::Propagation::kBackground : registry::Propagation::kOrphan;
  }
  if (policy == nullptr) return;
  const rules::Path path("propagationPolicy");
  if (orphan != nullptr) {
    errors.Invalid(path, *policy, "orphanDependents and deletionPropagation cannot be both set");
  }
  request.options.propagation = PropagationOf(codec::Text(policy));
  if (!request.options.propagation) {
    errors.NotSupported(path, *policy, {"Foreground", "Background", "Orphan", "nil"});
  }
}

/// Converts a canonical DeleteOptions.
base::Result<DeleteRequest> TakeDeleteOptions(const Value& options) {
  DeleteRequest request;
  rules::FieldErrors errors;
  TakePropagation(options, request, errors);
  request.dry_run = TakeDryRun(codec::ArrayAt(options, "dryRun"), errors);
  if (!errors.empty()) return tl::unexpected(InvalidOptions("DeleteOptions", errors));
  if (const Value* uid = codec::FindAt(options, "preconditions", "uid")) {
    request.options.uid = codec::Text(uid);
  }
  if (const Value* version = codec::FindAt(options, "preconditions", "resourceVersion")) {
    request.options.resource_version = codec::Text(version);
  }
  return request;
}

base::Result<Value> OptionsOf(const Query& query) {
  Value options = codec::Object();
  codec::Array dry_run;
  for (const std::string_view each : query.All("dryRun")) dry_run.emplace_back(each);
  if (!dry_run.empty()) options.Set("dryRun", std::move(dry_run));
  if (const std::string* policy = query.Find("propagationPolicy")) {
    options.Set("propagationPolicy", *policy);
  }
  if (query.Find("orphanDependents") != nullptr) {
    options.Set("orphanDependents", query.Flag("orphanDependents"));
  }
  for (const std::string_view name : {"uid", "resourceVersion"}) {
    if (const std::string_view value = query.Get(name); !value.empty()) {
      codec::SetAt(options, {"preconditions", name}, value);
    }
  }
  if (const std::string* grace = query.Find("gracePeriodSeconds")) {
    const auto seconds = ParseInt(*grace);
    if (!seconds) return tl::unexpected(seconds.error());
  }
  return options;
}

}  // namespace

std::string_view GoPackage(std::string_view group) {
  if (group.empty() || group == "events.k8s.io") return "core";
  return group.substr(0, group.find('.'));
}

base::Result<Value> ToStoredForm(const registry::Served& served, Value object) {
  if (served.IsStoredForm()) return object;
  if (const auto validate = served.view->validate) {
    const rules::FieldErrors errors = validate(object);
    if (!errors.empty()) {
      return tl::unexpected(registry::InvalidObject(errors, served.Kind(),
                                                    codec::StringAt(object, "metadata", "name")));
    }
  }
  return served.view->to_stored(object);
}

base::Result<Value> ReadObject(Call& call, FieldValidation validation) {
  const registry::Served& served = call.route.served;
  const api::Kind& kind = served.Kind();
  const auto media = BodyMedia(call.Header("content-type"), {.protobuf = kind.has_protobuf});
  if (!media) return tl::unexpected(media.error());
  auto decoded = Decode(*media, call.request.body, *kind.message,
                        {.expected = {.api_version = kind.api_version, .kind = kind.kind}});
  if (!decoded) return tl::unexpected(std::move(decoded.error()));
  if (auto error = CheckIdentity(*decoded, kind)) return tl::unexpected(*std::move(error));
  if (!decoded->problems.empty() && validation == FieldValidation::kStrict) {
    return base::Fail(
        base::Reason::kBadRequest,
        fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", kind.kind, kind.version,
                    kind.kind, codec::StrictMessage(decoded->problems)));
  }
  if (validation == FieldValidation::kWarn) {
    for (const codec::Problem& problem : decoded->problems) call.warnings.push_back(problem.text);
  }
  return std::move(decoded->object);
}

base::Result<DeleteRequest> ReadDeleteOptions(const Call& call) {
  if (call.request.body.empty()) return OptionsOf(call.query).and_then(TakeDeleteOptions);
  const auto media = BodyMedia(call.Header("content-type"));
  if (!media) return tl::unexpected(media.error());
  // Any apiVersion is accepted, because the options are the same in all.
  const auto decoded = Decode(*media, call.request.body, api::kDeleteOptions, {});
  if (!decoded) return tl::unexpected(decoded.error());
  if (!decoded->kind.empty() && decoded->kind != "DeleteOptions") {
    return base::Fail(base::Reason::kBadRequest,
                      fmt::format("no kind \"{}\" is registered for version \"{}\" in scheme "
                                  "\"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/"
                                  "register.go:27\"",
                                  decoded->kind, decoded->api_version));
  }
  return TakeDeleteOptions(decoded->object);
}

std::optional<base::Error> CheckNamespace(const Route& route, Value& object) {
  if (!route.served.Kind().namespaced) {
    codec::EraseAt(object, {"metadata", "namespace"});
    return std::nullopt;
  }
  const std::string_view name_space = codec::StringAt(object, "metadata", "namespace");
  if (!name_space.empty() && name_space != route.name_space) {
    return base::Error{.reason = base::Reason::kBadRequest,
                       .message =
                           "the namespace of the provided object does not match the "
                           "namespace sent on the request"};
  }
  codec::SetAt(object, {"metadata", "namespace"}, route.name_space);
  return std::nullopt;
}

std::optional<base::Error> CheckName(const Route& route, Value& object) {
  const std::string_view name = codec::StringAt(object, "metadata", "name");
  if (name.empty()) {
    return base::Error{.reason = base::Reason::kBadRequest,
                       .message = fmt::format("the name of the object ({} based on URL) was "
                                              "undeterminable: name must be provided",
                                              route.name)};
  }
  if (name != route.name) {
    return base::Error{.reason = base::Reason::kBadRequest,
                       .message = fmt::format(
                           "the name of the object ({}) does not match the name on the URL ({})",
                           name, route.name)};
  }
  return std::nullopt;
}

}  // namespace berth::server
