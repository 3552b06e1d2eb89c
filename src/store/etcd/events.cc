#include "store/etcd/events.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "store/keys.h"

namespace berth::store::etcd {
namespace {

namespace pb = etcdserverpb;

Event ToEvent(const Layout& layout, const pb::Event& from, int delete_slot) {
  Event event;
  event.key = layout.keys.ToCaller(from.kv().key());
  int slot = delete_slot;
  if (from.type() == pb::Event::PUT) {
    event.value = from.kv().value();
    slot = layout.SlotOf(event.key, event.value);
  } else {
    event.type = Event::Type::kDelete;
  }
  event.revision = layout.revisions.At(from.kv().mod_revision(), slot);
  if (from.has_prev_kv()) event.previous = layout.EntryOf(from.prev_kv());
  return event;
}

/// Appends the events of one revision in order. Returns false if they cannot be told apart.
bool DecodeRevision(const Layout& layout, const std::vector<const pb::Event*>& revision,
                    Decoded& decoded) {
  absl::flat_hash_set<std::string_view> seen;
  std::vector<Event> events;
  int delete_slot = kFirstDeleteSlot;
  for (const pb::Event* from : revision) {
    // A key is written once in a revision.
    if (revision.size() > 1 && !seen.insert(from->kv().key()).second) continue;
    const bool is_delete = from->type() == pb::Event::DELETE;
    if (is_delete && delete_slot == kHeadSlot) return false;
    Event event = ToEvent(layout, *from, delete_slot);
    if (is_delete) ++delete_slot;
    if (event.key == kTickKey) decoded.tick = true;
    if (!IsEngineKey(event.key)) events.push_back(std::move(event));
  }
  const auto by_revision = [](const Event& a, const Event& b) { return a.revision < b.revision; };
  std::sort(events.begin(), events.end(), by_revision);
  const auto same = [](const Event& a, const Event& b) { return a.revision == b.revision; };
  if (std::adjacent_find(events.begin(), events.end(), same) != events.end()) return false;
  std::move(events.begin(), events.end(), std::back_inserter(decoded.events));
  return true;
}

}  // namespace

Decoded Decode(const Layout& layout, const pb::WatchResponse& response, int64_t after) {
  Decoded decoded;
  std::vector<const pb::Event*> revision;
  const auto finish = [&] {
    if (!revision.empty() && !DecodeRevision(layout, revision, decoded)) decoded.foreign = true;
    revision.clear();
  };
  decoded.last = after;
  for (const pb::Event& event : response.events()) {
    const int64_t mod = event.kv().mod_revision();
    if (mod > decoded.last) {
      finish();
      decoded.last = mod;
    } else if (mod < decoded.last || mod <= after) {
      continue;
    }
    revision.push_back(&event);
  }
  finish();
  if (decoded.last == after) decoded.last = 0;
  return decoded;
}

}  // namespace berth::store::etcd
