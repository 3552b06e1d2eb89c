#include "controllers/work_lease.h"

#include <charconv>
#include <utility>

#include "api/kinds.h"
#include "codec/read.h"
#include "codec/timestamp.h"

namespace berth::controllers {
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

std::optional<WorkLease::Progress> WorkLease::In(const state::Snapshot& picture) const {
  const auto found = picture.Find(key_);
  if (found == nullptr) return std::nullopt;
  const auto lease = registry::DecodeWithoutManagedFields(row_, *found);
  if (!lease) return std::nullopt;
  Progress progress{.phase =
                        std::string(codec::StringAt(*lease, "metadata", "annotations", kPhase))};
  const std::string_view done = codec::StringAt(*lease, "metadata", "annotations", kDone);
  std::from_chars(done.data(), done.data() + done.size(), progress.done);
  const auto since = codec::ParseTime(codec::StringAt(*lease, "spec", "renewTime"));
  if (since) progress.since = *since;
  return progress;
}

commit::Decision WorkLease::Put(const state::ObjectPtr& current, const Progress& progress,
                                const std::string& new_uid) const {
  Value lease = codec::Object{
      {"metadata", codec::Object{{"name", name_},
                                 {"namespace", kNamespace},
                                 {"uid", new_uid},
                                 {"creationTimestamp", codec::FormatTime(progress.since)}}},
      {"spec", codec::Object{{"holderIdentity", "berth"}}}};
  if (current != nullptr) {
    if (auto before = registry::Registry::Decode(row_, *current)) lease = *std::move(before);
  }
  codec::SetAt(lease, {"metadata", "annotations", kPhase}, progress.phase);
  codec::SetAt(lease, {"metadata", "annotations", kDone}, std::to_string(progress.done));
  codec::SetAt(lease, {"spec", "renewTime"}, codec::FormatMicroTime(progress.since));
  return {.kind = commit::Decision::Kind::kPut,
          .stored = registry::ToStored(row_, lease),
          .wire = registry::ToWireText(row_, lease)};
}

}  // namespace berth::controllers
