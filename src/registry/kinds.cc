#include "registry/kinds.h"

#include <algorithm>
#include <utility>

#include "codec/encode.h"
#include "codec/protobuf.h"
#include "codec/storage.h"
#include "rules/event.h"

namespace berth::registry {
namespace {

/// A stored value as clients see it.
base::Result<state::WireText> ToWire(const Row& row, const Settings& settings,
                                     std::string_view stored) {
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
  text.hidden = hidden;
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
  add(api::kServiceCidrKind, "/registry/servicecidrs/", ServiceCidrStrategy());
  add(api::kIpAddressKind, "/registry/ipaddresses/", IpAddressStrategy());
  add(api::kNodePortRangeKind, "/registry/allocation.berth.io/nodeportranges/", {}).served = false;
  add(api::kNodePortKind, "/registry/allocation.berth.io/nodeports/", NodePortStrategy()).served =
      false;
  for (const Row& row : rows_) {
    if (!row.served) continue;
    for (const View& view : row.views) views_.push_back(view.kind);
  }
  std::stable_sort(views_.begin(), views_.end(),
                   [](const api::Kind* a, const api::Kind* b) { return a->group < b->group; });
}

const Row* Kinds::FindRow(const api::Kind& kind) const {
  const auto row = std::ranges::find(rows_, &kind, &Row::kind);
  return row == rows_.end() ? nullptr : &*row;
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
