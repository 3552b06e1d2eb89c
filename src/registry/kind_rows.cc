#include "registry/kind_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/storage.h"
#include "registry/hooks.h"
#include "registry/object_errors.h"
#include "rules/allocated_address.h"
#include "rules/event_rules.h"

namespace berth::registry {
namespace {

/// Converts a stored value to what clients see.
base::Result<state::WireText> ToWire(const Row& row, const Settings& settings,
                                     std::string_view stored) {
  if (row.strategy.to_wire != nullptr) return row.strategy.to_wire(stored);
  const api::Kind& kind = *row.kind;
  auto decoded = codec::DecodeStored(stored);
  if (!decoded) return tl::unexpected(std::move(decoded.error()));
  if (decoded->kind != &kind) {
    return base::Fail(
        base::Reason::kInternalError,
        std::string("holds an object of another kind: ") + std::string(decoded->kind->kind));
  }
  std::string hidden;
  if (row.strategy.hide != nullptr) hidden = row.strategy.hide(decoded->object);
  if (row.strategy.decorate != nullptr) row.strategy.decorate(decoded->object, settings);
  return ToWireText(row, decoded->object, hidden);
}

codec::Value Unchanged(const codec::Value& object) { return object; }

/// Returns a view that differs from the stored form only in its version.
View OtherVersion(const api::Kind& kind) {
  return {.kind = &kind, .to_stored = Unchanged, .from_stored = Unchanged};
}

}  // namespace

state::WireText ToWireText(const Row& row, const codec::Value& object, std::string_view hidden) {
  const api::Kind& kind = *row.kind;
  codec::WireJson wire = codec::EncodeJson(object, *kind.message,
                                           {.api_version = kind.api_version, .kind = kind.kind});
  state::WireText text{.text = std::move(wire.text),
                       .metadata_at = wire.metadata_at,
                       .version_at = wire.version_at,
                       .managed_at = wire.managed_at,
                       .managed_size = wire.managed_size};
  if (codec::HasUnknownFields(object)) {
    text.protobuf = codec::EncodeProto(object, *kind.message, {.for_storage = true});
  }
  const bool assumes = hidden.empty() && row.strategy.assume != nullptr;
  text.hidden = assumes ? row.strategy.assume(object) : std::string(hidden);
  state::MarkOwn(text, row.strategy.own_members);
  return text;
}

std::string ToStored(const Row& row, const codec::Value& object, std::string_view hidden) {
  if (hidden.empty()) return codec::EncodeStored(object, *row.kind);
  codec::Value whole = object;
  row.strategy.reveal(whole, hidden);
  return codec::EncodeStored(whole, *row.kind);
}

base::Result<codec::Value> DecodeWithoutManagedFields(const Row& row, const state::Object& object) {
  std::string room;
  return codec::DecodeWire(object.TextWithoutManagedFields(room), *row.kind->message);
}

std::string_view SubresourceOf(Door door) {
  switch (door) {
    case Door::kStatus:
      return "status";
    case Door::kFinalize:
      return "finalize";
    case Door::kMain:
      break;
  }
  return {};
}

std::optional<std::string> Served::StoredName(std::string_view name) const {
  return view->name_to_stored == nullptr ? std::string(name) : view->name_to_stored(name);
}

std::optional<std::string> Served::ShownName(std::string_view stored) const {
  return view->name_from_stored == nullptr ? std::string(stored) : view->name_from_stored(stored);
}

codec::Value Served::Show(codec::Value stored, const state::Object& object,
                          const KindHooks& hooks) const {
  if (view->shows_hidden) row->strategy.reveal(stored, object.Hidden());
  if (view->shows_hidden || row->strategy.hide == nullptr) hooks.Refresh(object, stored);
  if (IsStoredForm()) return stored;  // A conditional expression would copy the object.
  return view->from_stored(stored);
}

base::Error NotFound(const Served& served, const std::string& name) {
  base::Error error = NotFound(served.Kind(), name);
  if (served.view->name_from_stored == nullptr || served.StoredName(name)) return error;
  if (const auto shown = served.ShownName(name)) {
    error.message += fmt::format("; its name here is \"{}\"", *shown);
  }
  return error;
}

base::Error ChangedAsStored(const Served& served, const std::string& name) {
  const api::Kind& kind = served.Kind();
  const auto stored = served.StoredName(name);
  return {
      .reason = base::Reason::kMethodNotAllowed,
      .message = fmt::format("{} cannot be changed: delete it and create another one, or change "
                             "the metadata of {}{}",
                             QualifiedResource(kind), QualifiedResource(*served.row->kind),
                             stored ? fmt::format(" \"{}\"", *stored) : ""),
      .details = base::Details{
          .name = name, .group = std::string(kind.group), .kind = std::string(kind.plural)}};
}

Kinds::Kinds() {
  const auto add = [this](const api::Kind& kind, const char* prefix,
                          const Strategy& strategy) -> Row& {
    Row& row = rows_.emplace_back();
    row.resource = static_cast<uint16_t>(rows_.size() - 1);
    row.kind = &kind;
    row.prefix = prefix;
    row.views.push_back({.kind = &kind});
    row.strategy = strategy;
    return row;
  };
  namespaces_ = add(api::kNamespaceKind, "/registry/namespaces/", NamespaceStrategy()).resource;
  add(api::kServiceKind, "/registry/services/specs/", ServiceStrategy());
  add(api::kEventKind, "/registry/events/", EventStrategy())
      .views.push_back({.kind = &api::kEventsEventKind,
                        .to_stored = rules::EventToCore,
                        .from_stored = rules::EventToNew});
  add(api::kLeaseKind, "/registry/leases/", LeaseStrategy());
  add(api::kEndpointsKind, "/registry/services/endpoints/", EndpointsStrategy());
  add(api::kEndpointSliceKind, "/registry/endpointslices/", EndpointSliceStrategy());
  // Nodes are called minions in Kubernetes' store.
  add(api::kNodeKind, "/registry/minions/", NodeStrategy());
  add(api::kServiceCidrKind, "/registry/servicecidrs/", ServiceCidrStrategy())
      .views.push_back(OtherVersion(api::kServiceCidrBetaKind));
  Row& addresses = add(api::kIpAddressKind, "/registry/ipaddresses/", IpAddressStrategy());
  addresses.views.push_back({.kind = &api::kAllocatedAddressKind,
                             .to_stored = rules::AllocatedAddressToStored,
                             .from_stored = rules::AllocatedAddressFromStored,
                             .validate = rules::ValidateAllocatedAddress,
                             .name_to_stored = rules::AddressOfName,
                             .name_from_stored = rules::NameOfAddress,
                             .shows_hidden = true,
                             .repeats = rules::RepeatsAllocatedAddress});
  addresses.views.push_back(OtherVersion(api::kIpAddressBetaKind));
  add(api::kIpRangeKind, "/registry/allocation.berth.io/ipranges/", IpRangeStrategy());
  add(api::kNodePortRangeKind, "/registry/allocation.berth.io/nodeportranges/",
      NodePortRangeStrategy());
  add(api::kNodePortKind, "/registry/allocation.berth.io/nodeports/", NodePortStrategy());
  add(api::kReplicaKind, "/registry/berth.io/replicas/", ReplicaStrategy());
  // The fences of processes lie below, at fence/process/. Their names have one more slash, so they
  // do not belong to this kind.
  add(api::kRangeFenceKind, "/registry/berth.io/fence/", {}).served = false;
  add(api::kRangeAllocationKind, "/registry/ranges/", RangeAllocationStrategy()).served = false;
  views_ = ServedViews();
  std::erase_if(views_, [](const api::Kind* kind) { return !kind->listed; });
  // Berth's own groups come last. If two groups have a resource of the same name, clients that name
  // no group use the one that they find first.
  std::ranges::stable_sort(views_, {}, [](const api::Kind* kind) {
    return std::pair(kind->group.ends_with(".berth.io"), kind->group);
  });
}

const Row* Kinds::FindRow(const api::Kind& kind) const {
  const auto row = std::ranges::find(rows_, &kind, &Row::kind);
  return row == rows_.end() ? nullptr : &*row;
}

std::vector<const api::Kind*> Kinds::ServedViews() const {
  std::vector<const api::Kind*> kinds;
  for (const Row& row : rows_) {
    if (!row.served) continue;
    for (const View& view : row.views) kinds.push_back(view.kind);
  }
  return kinds;
}

std::optional<Served> Kinds::Find(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  for (const Row& row : rows_) {
    for (const View& view : row.views) {
      if (row.served && view.kind->plural == plural && view.kind->group == group &&
          view.kind->version == version) {
        return Served{.row = &row, .view = &view};
      }
    }
  }
  return std::nullopt;
}

state::Resources Kinds::MakeResources(const Settings& settings) const {
  std::vector<state::Resource> resources;
  for (const Row& row : rows_) {
    resources.push_back({.name = std::string(row.kind->plural),
                         .prefix = row.prefix,
                         .namespaced = row.kind->namespaced,
                         .decode = [row, settings](std::string_view stored) {
                           return ToWire(row, settings, stored);
                         }});
  }
  return state::Resources(std::move(resources));
}

}  // namespace berth::registry
