#include "allocation/forms/work_lease.h"

#include <charconv>
#include <utility>

#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::allocation {
namespace {

using codec::Value;

constexpr const char* kNamespace = "kube-system";
constexpr const char* kPhase = "allocation.berth.io/phase";
constexpr const char* kDone = "allocation.berth.io/done";

}  // namespace

WorkLease::WorkLease(const registry::Registry& registry, const std::string& name)
    : row_(*registry.GetKinds().FindRow(api::kLeaseKind)),
      name_(name),
      key_(registry.GetResources().Key(row_.resource, kNamespace, name)) {}

std::optional<WorkLease::Progress> WorkLease::In(const state::Snapshot& snapshot) const {
  const auto found = snapshot.Find(key_);
  if (found == nullptr) return std::nullopt;
  const auto lease = registry::DecodeWithoutManagedFields(row_, *found);
  if (!lease) return std::nullopt;
  Progress progress{.phase =
                        std::string(codec::StringAt(*lease, "metadata", "annotations", kPhase))};
  const std::string_view done = codec::StringAt(*lease, "metadata", "annotations", kDone);
  std::from_chars(done.data(), done.data() + done.size(), progress.done);
  const auto since = codec::ParseTime(codec::StringAt(*lease, "spec", "renewTime"));
  if (since) progress.since = *since;
  progress.holder = codec::StringAt(*lease, "spec", "holderIdentity");
  return progress;
}

registry::Target WorkLease::Target() const {
  return {
      .served = {.row = &row_, .view = row_.views.data()}, .name_space = kNamespace, .name = name_};
}

void WorkLease::Note(const Progress& progress, Value& lease) {
  if (!progress.phase.empty()) {
    codec::SetAt(lease, {"metadata", "annotations", kPhase}, progress.phase);
    codec::SetAt(lease, {"metadata", "annotations", kDone}, std::to_string(progress.done));
  }
  codec::SetAt(lease, {"spec", "holderIdentity"}, progress.holder);
  codec::SetAt(lease, {"spec", "renewTime"}, codec::FormatMicroTime(progress.since));
}

commit::Decision WorkLease::Put(const state::ObjectPtr& current, const Progress& progress,
                                const std::string& new_uid) const {
  Value lease = codec::Object{
      {"metadata", codec::Object{{"name", name_},
                                 {"namespace", kNamespace},
                                 {"uid", new_uid},
                                 {"creationTimestamp", codec::FormatTime(progress.since)}}}};
  if (current != nullptr) {
    if (auto before = registry::Registry::Decode(row_, *current)) lease = *std::move(before);
  }
  Note(progress, lease);
  return {.kind = commit::Decision::Kind::kPut,
          .stored = registry::ToStored(row_, lease),
          .wire = registry::ToWireText(row_, lease)};
}

}  // namespace berth::allocation
