#include "allocation/record_hooks.h"

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/holder_warning.h"
#include "allocation/reservations.h"
#include "codec/read.h"
#include "ip/addr.h"
#include "rules/node_port.h"
#include "rules/record_notes.h"

namespace berth::allocation {
namespace {

using registry::Attempt;
using registry::Draft;

class RecordWrite final : public registry::WriteHooks {
 public:
  RecordWrite(Ledger& ledger, const RecordRows& rows, const base::Clock& clock,
              const registry::Served& served)
      : ledger_(ledger), rows_(rows), clock_(clock), served_(served) {}

  void Begin(codec::Value& object) override { reservation_ = Reservation::Begin(served_, object); }

  std::optional<commit::Refusal> OnCreate(const Attempt& attempt, Draft& draft,
                                          commit::Decision& decision) override {
    if (!reservation_) return std::nullopt;
    auto fence = reservation_->Complete(
        {.ledger = ledger_, .rows = rows_, .snapshot = attempt.snapshot, .now = clock_.Now()},
        attempt.target.name, draft.object);
    if (!fence) return std::move(fence.error());
    draft.hidden = reservation_->Hidden();
    decision.compares.push_back(*std::move(fence));
    return std::nullopt;
  }

  std::optional<commit::Refusal> OnUpdate(const Attempt& /*attempt*/, Draft& /*draft*/,
                                          commit::Decision& /*decision*/) override {
    reservation_.reset();  // The record exists by now.
    return std::nullopt;
  }

  std::optional<std::string> Warning(const codec::Value& object) override {
    return reservation_ ? reservation_->Advice(ledger_, object) : std::nullopt;
  }

 private:
  Ledger& ledger_;
  const RecordRows& rows_;
  const base::Clock& clock_;
  const registry::Served served_;
  std::optional<Reservation> reservation_;
};

constexpr std::string_view kPortRangeField = "nodePortRangeRef";
/// How a stored NodePort names its range. No other part of a JSON text can contain this, because a
/// quote within a string is escaped.
constexpr std::string_view kPortRangeText =
    R"("nodePortRangeRef":{"apiGroup":"allocation.berth.io","kind":"NodePortRange","name":")";

std::optional<PoolValue> PortOf(std::string_view name) {
  const auto port = rules::ReadNodePortName(name);
  if (!port) return std::nullopt;
  return PoolValue{.pool = PoolId::kPorts, .value = *port};
}

std::optional<PoolValue> AddressOf(std::string_view name) {
  const auto address = ip::ParseAddrLoose(name);
  if (!address) return std::nullopt;
  return PoolValue{.pool = PoolOf(address->addr.family()), .value = address->addr.bits()};
}

void RefreshPort(const RecordRows& rows, const RangeDirectory& ranges, const PoolValue& value,
                 codec::Value& port) {
  const std::string_view noted = codec::StringAt(port, "spec", kPortRangeField, "name");
  const std::string_view range = ranges.ReferenceFor(value, noted);
  if (range == noted) return;
  if (range.empty()) {
    codec::EraseAt(port, {"spec", kPortRangeField});
  } else {
    codec::SetAt(port, {"spec", kPortRangeField}, PortRangeReference(rows, range));
  }
}

void RefreshAddress(const RangeDirectory& ranges, const PoolValue& value,
                    const state::Object& object, codec::Value& address) {
  const std::string_view hidden = object.Hidden();
  const std::string_view noted = rules::RangeOrDefault(object.Name(), rules::StateOfHidden(hidden),
                                                       rules::RangeOfHidden(hidden));
  const std::string_view range = ranges.ReferenceFor(value, noted);
  if (range == noted) return;
  rules::RecordNotes notes = rules::NotesOfHidden(hidden);
  notes.range = range.empty() ? rules::kNoRange : range;
  rules::WriteNotes(address, notes);
}

}  // namespace

std::shared_ptr<registry::WriteHooks> RecordHooks::Begin(
    const registry::Target& target, const registry::CommonOptions& /*options*/) {
  return std::make_shared<RecordWrite>(ledger_, rows_, clock_, target.served);
}

std::vector<commit::Guard> RecordHooks::Guards(const registry::Target& target) const {
  return {{.key = kFormKey,
           .check = [this, target](const state::ObjectPtr& found) -> std::optional<base::Error> {
             const auto note = found ? ReadFormNote(rows_, *found) : std::nullopt;
             if (!note) return std::nullopt;
             return NeedsRecords(target.served.Kind(), target.name, note->form);
           }}};
}

bool RecordHooks::Exists(const state::Object& object) const { return !IsCooling(rows_, object); }

std::optional<std::string> RecordHooks::WarningAboutExisting(const registry::Target& target,
                                                             const state::Object& object) const {
  if (&target.served.Kind() == &api::kIpAddressKind) return std::nullopt;
  return HolderWarning(rows_, object);
}

void RecordHooks::Refresh(const state::Object& object, codec::Value& value) const {
  if (object.Resource() == rows_.node_ports->resource) {
    const auto port = PortOf(object.Name());
    if (port) RefreshPort(rows_, *references_.Current(), *port, value);
    return;
  }
  const auto address = AddressOf(object.Name());
  if (address) RefreshAddress(*references_.Current(), *address, object, value);
}

bool RecordHooks::IsFresh(const state::Object& object, std::string_view json) const {
  if (object.Resource() != rows_.node_ports->resource) return true;
  static const std::boyer_moore_horspool_searcher kSearcher(kPortRangeText.begin(),
                                                            kPortRangeText.end());
  const auto port = PortOf(object.Name());
  const auto [begin, end] = kSearcher(json.begin(), json.end());
  if (!port || begin == json.end()) return false;
  const std::string_view rest(end, json.end());
  const std::string_view noted = rest.substr(0, rest.find('"'));
  return references_.Current()->ReferenceFor(*port, noted) == noted;
}

}  // namespace berth::allocation
