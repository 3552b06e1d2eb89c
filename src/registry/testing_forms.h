// For tests only: a registry on a store that keeps allocations in one of its forms, and what each
// of them holds.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "alloc/bitmap_change.h"
#include "alloc/bitmap_ranges.h"
#include "commit/bitmaps.h"
#include "registry/allocation_forms.h"
#include "registry/testing.h"

namespace berth::registry::testing {

class FormsTest : public RegistryTest {
 protected:
  /// As if the store had always been so.
  void BeginWith(commit::AllocationForm form) {
    if (commit::WritesBitmaps(form)) {
      PutBitmap(alloc::BitmapId::kPrimary, "10.96.0.0/16");
      PutBitmap(alloc::BitmapId::kPorts, "30000-32767");
    }
    store_.Put(kFormKey, codec::EncodeStored(FormObject({.form = form}, store_.clock.Now()),
                                             *rows_.fences->kind));
    PumpAll();
  }
  void PutBitmap(alloc::BitmapId id, const std::string& range, const std::string& data = "") {
    store_.Put(KeyOf(id), commit::StoredBitmap({.range = range, .data = data}));
    PumpAll();
  }
  static std::string KeyOf(alloc::BitmapId id) {
    return std::string(commit::kBitmaps[static_cast<size_t>(id)].key);
  }

  /// Values that have records, by their names.
  std::set<std::string> Records() const {
    std::set<std::string> names;
    for (const Row* row : {rows_.ip_addresses, rows_.node_ports}) {
      for (auto at = follower_->Current()->Seek(row->prefix); at.Valid(); at.Next()) {
        names.emplace(at.Get()->Name());
      }
    }
    return names;
  }
  /// Values whose bits are set.
  std::set<std::string> Bits() const {
    std::set<std::string> names;
    for (size_t i = 0; i < commit::kBitmaps.size(); ++i) {
      const auto found = follower_->Current()->Find(std::string(commit::kBitmaps[i].key));
      if (found == nullptr) continue;
      const commit::BitmapView view = commit::ViewOf(*found);
      const auto form = alloc::ParseBitmapForm(view.range).value();
      const auto cidr = ip::ParseCidr(view.range);
      const auto pool = cidr ? commit::PoolOf(cidr->family()) : commit::PoolId::kPorts;
      for (const base::U128 value : alloc::CompareBitmaps(form, {}, view.data).taken) {
        names.insert(RecordName({.pool = pool, .value = value}));
      }
    }
    return names;
  }
  /// Values that Services have.
  std::set<std::string> Held() const {
    std::set<std::string> names;
    const Row& row = *kinds_.FindRow(api::kServiceKind);
    for (auto at = follower_->Current()->Seek(row.prefix); at.Valid(); at.Next()) {
      const auto service = Registry::Decode(row, *at.Get()).value();
      const rules::Holdings holdings = rules::HoldingsOf(service);
      for (const auto& address : holdings.addresses) names.insert(address.ToString());
      for (const uint16_t port : holdings.ports) names.insert(std::to_string(port));
    }
    return names;
  }

  base::Result<Outcome> Make(const std::string& name, const std::string& spec = "",
                             const CommonOptions& options = {}) {
    const bool has_ports = spec.find("'ports'") != std::string::npos;
    const std::string body = "{'metadata':{'name':'" + name + "'},'spec':{" +
                             (has_ports ? "" : "'ports':[{'port':80}]") +
                             (has_ports || spec.empty() ? "" : ",") + spec + "}}";
    return Create(Service(""), body, options);
  }
  codec::Value Made(const std::string& name, const std::string& spec = "") {
    return Show(Service(name), *Must(Make(name, spec)).written.object);
  }

  const RecordRows rows_ = RecordRowsOf(kinds_);
};

}  // namespace berth::registry::testing
