#include "audit/pass.h"

#include <optional>
#include <utility>
#include <vector>

#include "audit/findings.h"
#include "audit/port_use_table.h"
#include "audit/range_checks.h"
#include "audit/service_table.h"
#include "audit/value_checks.h"
#include "audit/value_table.h"
#include "audit/words.h"
#include "ip/addr.h"

namespace berth::audit {
namespace {

using alloc::PoolId;
using alloc::PoolValue;

/// How many facts are added between two calls of PassOptions::pause.
constexpr uint64_t kFactsPerPause = 1024;

bool IsOtherFamily(const RecordFacts& record) {
  if (record.family.empty() || record.value.pool == PoolId::kPorts) return false;
  const auto family = record.value.pool == PoolId::kIpv4 ? ip::Family::kV4 : ip::Family::kV6;
  return record.family != ip::FamilyText(family);
}

}  // namespace

class Pass::Impl {
 public:
  explicit Impl(PassOptions options) : options_(std::move(options)) {}

  void SetKeeps(Keeps keeps) { options_.keeps = keeps; }

  void AddService(const ServiceFacts& service) {
    ++checked_.services;
    MayPause();
    if (service.holds.empty()) {
      services_.Add(service.object);
      return;
    }
    const ServiceTable::Id id = services_.Add(service.object);
    if (id == ServiceTable::kNone) return;
    for (const HeldValue& held : service.holds) {
      ++checked_.values;
      InTable(held.value.pool, [&](auto& table) { table.AddHolder(held.value.value, id); });
      if (held.value.pool == PoolId::kPorts) {
        port_uses_.Add(static_cast<uint16_t>(held.value.value), held.health_check, held.ports);
      }
    }
  }

  void AddRecord(const RecordFacts& record) {
    ++checked_.records;
    MayPause();
    const KeptRecord kept{
        .revision = record.object.revision,
        .service = services_.Mention(record.service_namespace, record.service_name),
        .range = ranges_.Reference(record.range),
        .more = AddExtras(record)};
    InTable(record.value.pool, [&](auto& table) { table.AddRecord(record.value.value, kept); });
  }

  void AddRange(const RangeObjectFacts& range) {
    ++checked_.ranges;
    ranges_.Add(range);
  }

  void AddBitmap(const BitmapFacts& bitmap) {
    for (const base::U128 value : bitmap.values) {
      ++checked_.bits;
      MayPause();
      InTable(bitmap.pool, [&](auto& table) { table.AddBit(value); });
    }
    bitmaps_[bitmap.pool] = {.object = bitmap.object, .pool = bitmap.pool, .range = bitmap.range};
  }

  void AddUndecodable(const std::string& key, const std::string& error) {
    ++checked_.undecodable;
    findings_.Add(Undecodable(key, error));
  }

  Report Finish() {
    ranges_.Prepare();
    const ValueWorld world{.keeps = options_.keeps,
                           .services = services_,
                           .ranges = ranges_,
                           .extras = extras_,
                           .port_uses = port_uses_,
                           .bitmaps = bitmaps_};
    for (const PoolId pool : alloc::kAllPools) CheckPool(world, pool);
    if (options_.keeps == Keeps::kRecords || options_.keeps == Keeps::kBitmaps) {
      ranges_.CheckCounts(findings_);
    }
    ranges_.CheckPrimaries(findings_);
    Report report{.revision = options_.revision, .checked = checked_};
    std::move(findings_).MoveTo(report, [&](FindingKind kind, const PoolValue& value) {
      return Describe(world, kind, value);
    });
    return report;
  }

 private:
  template <typename Use>
  void InTable(PoolId pool, const Use& use) {
    if (pool == PoolId::kIpv4) {
      use(ipv4_);
    } else if (pool == PoolId::kIpv6) {
      use(ipv6_);
    } else {
      use(ports_);
    }
  }

  void Pause() {
    if (options_.pause) options_.pause();
  }
  void MayPause() {
    if (++facts_ % kFactsPerPause == 0) Pause();
  }

  /// Keeps what most records do not have. Returns its place, or kNothingMore if there is nothing.
  uint32_t AddExtras(const RecordFacts& record) {
    RecordExtras extras{.state = record.state, .reserved_for = record.reserved_for};
    if (IsOtherFamily(record)) extras.wrong_family = record.family;
    // Services that were added before are compared now, so that less has to be kept.
    const PortPurpose* held = record.value.pool == PoolId::kPorts
                                  ? port_uses_.Find(static_cast<uint16_t>(record.value.value))
                                  : nullptr;
    if (held == nullptr || !SaysSo(record.health_check, record.ports, *held)) {
      extras.health_check = record.health_check;
      extras.ports = record.ports;
    }
    if (!record.service_uid.empty()) {
      const auto id = services_.Mention(record.service_namespace, record.service_name);
      const bool same = id != ServiceTable::kNone && services_.Exists(id) &&
                        services_.HasUid(id, record.service_uid);
      if (!same) extras.service_uid = record.service_uid;
    }
    const bool plain = extras.state == RecordState::kAllocated && extras.reserved_for.empty() &&
                       extras.wrong_family.empty() && extras.service_uid.empty() &&
                       !extras.health_check && !extras.ports;
    if (plain) return KeptRecord::kNothingMore;
    extras_.push_back(std::move(extras));
    return static_cast<uint32_t>(extras_.size() - 1);
  }

  void CheckPool(const ValueWorld& world, PoolId pool) {
    const auto visit = [&](const ValueView& view) {
      const PoolValue value{.pool = pool, .value = view.value};
      CheckValue(world, pool, view, [&](FindingKind kind) { findings_.Add(kind, value); });
      const alloc::State state = StateOf(world, view);
      if (state != alloc::State::kFree) ranges_.Count(value, state);
    };
    InTable(pool, [&](auto& table) { table.Walk(visit, [this] { Pause(); }); });
  }

  Finding Describe(const ValueWorld& world, FindingKind kind, const PoolValue& value) {
    ValueView view;
    InTable(value.pool, [&](const auto& table) { view = table.Find(value.value); });
    Finding finding = ValueFinding(kind, WordsOf(world, value.pool, view));
    // While a store changes its form, values are added to the new form step by step.
    const bool about_form = kind == FindingKind::kNoRecord || kind == FindingKind::kOrphan;
    finding.may_settle = about_form && options_.keeps == Keeps::kBoth;
    return finding;
  }

  PassOptions options_;
  uint64_t facts_ = 0;
  Checked checked_;
  Findings findings_;
  ServiceTable services_;
  RangeChecks ranges_;
  ValueTable<uint32_t> ipv4_;
  ValueTable<WideValue> ipv6_;
  ValueTable<uint32_t> ports_;
  std::vector<RecordExtras> extras_;
  PortUseTable port_uses_;
  alloc::PerPool<std::optional<BitmapFacts>> bitmaps_;
};

Pass::Pass(PassOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Pass::~Pass() = default;

void Pass::SetKeeps(Keeps keeps) { impl_->SetKeeps(keeps); }
void Pass::AddService(const ServiceFacts& service) { impl_->AddService(service); }
void Pass::AddRecord(const RecordFacts& record) { impl_->AddRecord(record); }
void Pass::AddRange(const RangeObjectFacts& range) { impl_->AddRange(range); }
void Pass::AddBitmap(const BitmapFacts& bitmap) { impl_->AddBitmap(bitmap); }
void Pass::AddUndecodable(const std::string& key, const std::string& error) {
  impl_->AddUndecodable(key, error);
}

Report Pass::Finish() && { return impl_->Finish(); }

}  // namespace berth::audit
