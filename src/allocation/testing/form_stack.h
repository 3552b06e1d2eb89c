// For tests only: a registry on a store that keeps allocations in one of its forms, and functions
// that return what each form says.
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/testing/registry_stack.h"

namespace berth::allocation::testing {

class FormsTest : public allocation::testing::RegistryTest {
 protected:
  /// Puts the store into the form, as if it had always been so.
  void BeginWith(AllocationForm form) {
    if (WritesBitmaps(form)) {
      PutBitmap(BitmapId::kPrimary, "10.96.0.0/16");
      PutBitmap(BitmapId::kPorts, "30000-32767");
    }
    store_.Put(kFormKey, codec::EncodeStored(FormObject({.form = form}, store_.clock.Now()),
                                             *rows_.fences->kind));
    PumpAll();
  }
  void PutBitmap(BitmapId id, const std::string& range, const std::string& data = "") {
    store_.Put(KeyOf(id), StoredBitmap({.range = range, .data = data}));
    PumpAll();
  }

  /// Returns the names of values that have records.
  std::set<std::string> Records() const {
    std::set<std::string> names;
    for (const registry::Row* row : {rows_.ip_addresses, rows_.node_ports}) {
      for (auto at = follower_->Current()->Seek(row->prefix); at.Valid(); at.Next()) {
        names.emplace(at.Get()->Name());
      }
    }
    return names;
  }
  /// Returns the names of values whose bits are set.
  std::set<std::string> Bits() const {
    std::set<std::string> names;
    for (size_t i = 0; i < kBitmaps.size(); ++i) {
      const auto found = follower_->Current()->Find(std::string(kBitmaps[i].key));
      if (found == nullptr) continue;
      const BitmapView view = ViewOf(*found);
      const auto form = ParseBitmapLayout(view.range).value();
      const auto cidr = ip::ParseCidr(view.range);
      const auto pool = cidr ? PoolOf(cidr->family()) : PoolId::kPorts;
      for (const base::U128 value : CompareBitmaps(form, {}, view.data).taken) {
        names.insert(RecordName({.pool = pool, .value = value}));
      }
    }
    return names;
  }
  /// Returns the names of values that Services have.
  std::set<std::string> Held() const {
    std::set<std::string> names;
    const registry::Row& row = *kinds_.FindRow(api::kServiceKind);
    for (auto at = follower_->Current()->Seek(row.prefix); at.Valid(); at.Next()) {
      const auto service = registry::Registry::Decode(row, *at.Get()).value();
      const rules::Holdings holdings = rules::HoldingsOf(service);
      for (const auto& address : holdings.addresses) names.insert(address.ToString());
      for (const uint16_t port : holdings.ports) names.insert(std::to_string(port));
    }
    return names;
  }

  base::Result<registry::Outcome> Make(const std::string& name, const std::string& spec = "",
                                       const registry::CommonOptions& options = {}) {
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

}  // namespace berth::allocation::testing
