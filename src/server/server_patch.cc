#include "server/server_patch.h"

#include <string_view>
#include <utility>

#include "codec/read.h"
#include "merge/apply.h"
#include "merge/patch.h"
#include "server/body.h"
#include "server/list.h"
#include "server/options.h"
#include "server/response_format.h"
#include "server/server_write.h"

namespace berth::server {
namespace {

using codec::Value;
using registry::Next;

/// Larger patches are left to a worker. So are JSON patches, because a short one can cause much
/// work.
constexpr size_t kQuickPatch = size_t{64} << 10;

constexpr std::string_view kApplyType = "application/apply-patch+yaml";

std::string_view TypeOf(const Call& call) {
  std::string_view type = call.Header("content-type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type;
}

std::optional<merge::PatchKind> PatchKindOf(std::string_view type) {
  if (type == "application/json-patch+json") return merge::PatchKind::kJson;
  if (type == "application/merge-patch+json") return merge::PatchKind::kMerge;
  if (type == "application/strategic-merge-patch+json") return merge::PatchKind::kStrategic;
  return std::nullopt;
}

/// Converts a stored object to the request's view, and back.
Value Shown(const registry::Served& served, const Value& stored) {
  return served.IsStoredForm() ? stored : served.view->from_stored(stored);
}
base::Result<Next> Stored(const Route& route, Next next) {
  auto error = CheckNamespace(route, next.object);
  if (!error) error = CheckName(route, next.object);
  if (error) {
    error->warnings = std::move(next.warnings);
    return tl::unexpected(*std::move(error));
  }
  auto stored = ToStoredForm(route.served, std::move(next.object));
  if (!stored) {
    stored.error().warnings = std::move(next.warnings);
    return tl::unexpected(std::move(stored.error()));
  }
  next.object = *std::move(stored);
  return next;
}

/// Returns a function that applies the patch. The patch is parsed only then, because an object that
/// does not exist is reported before a patch that cannot be parsed. It is parsed anew at each
/// attempt: the text that waits is much smaller than the parsed patch.
registry::NextState Patching(const CallPtr& call, merge::PatchKind kind,
                             FieldValidation validation) {
  return [call, kind, validation](const Value* current) -> base::Result<Next> {
    const auto patch = merge::Patch::Parse(kind, call->request.body, validation);
    if (!patch) return tl::unexpected(patch.error());
    const registry::Served& served = call->route.served;
    auto patched = patch->Apply(Shown(served, *current), served.Kind());
    if (!patched) return tl::unexpected(std::move(patched.error()));
    return Stored(call->route,
                  {.object = std::move(patched->object), .warnings = std::move(patched->warnings)});
  };
}

registry::NextState Applying(const Parts& parts, const CallPtr& call, const WriteOptions& options) {
  return [call, options, &clock = parts.clock](const Value* current) -> base::Result<Next> {
    auto config = merge::ReadApplyConfig(call->request.body, options.validation);
    if (!config) return tl::unexpected(config.error());
    const registry::Served& served = call->route.served;
    // A manager must not own fields that no client sees.
    if (const auto hide = served.row->strategy.hide) hide(config->document);
    const merge::FieldWrite write{.kind = served.Kind(),
                                  .subresource = registry::SubresourceOf(call->route.Door()),
                                  .manager = options.field_manager,
                                  .now = clock.Now()};
    auto applied = merge::Apply(write, {.force = options.force},
                                current == nullptr ? codec::Object() : Shown(served, *current),
                                config->document);
    if (!applied) return tl::unexpected(std::move(applied.error()));
    if (config->refusal) return tl::unexpected(*std::move(config->refusal));
    return Stored(call->route,
                  {.object = *std::move(applied), .warnings = std::move(config->warnings)});
  };
}

}  // namespace

bool IsApply(const Call& call) { return TypeOf(call) == kApplyType; }

std::optional<base::Error> CheckPatchType(const Call& call) {
  const std::string_view type = TypeOf(call);
  if (IsApply(call) || PatchKindOf(type)) return std::nullopt;
  return base::Error{.reason = base::Reason::kUnsupportedMediaType,
                     .message = "415: Unsupported Media Type",
                     .details = base::Details{}};
}

void HandlePatch(const Parts& parts, const CallPtr& call) {
  const auto format = ResponseFormatOf(parts.registry, *call, false);
  if (!format) return call->Fail(format.error());
  const auto kind = PatchKindOf(TypeOf(*call));
  const auto options = ParsePatchOptions(call->query, !kind);
  if (!options) return call->Fail(options.error());
  const auto update = [parts, call, format = *format, kind, options = *options] {
    parts.registry.Update(
        TargetOf(call->route),
        {.door = call->route.Door(), .way = kind ? registry::Way::kPatch : registry::Way::kApply},
        kind ? Patching(call, *kind, options.validation) : Applying(parts, call, options),
        Common(*call, options), AnswerObject(parts, call, format));
  };
  const bool quick = kind != merge::PatchKind::kJson && call->request.body.size() <= kQuickPatch;
  if (quick) return update();
  // The queue needs no bound: the number of writes at once is limited, and each body is in memory
  // already.
  if (!parts.workers.RunInAnyCase(update)) call->Fail(base::ShuttingDown());
}

}  // namespace berth::server
