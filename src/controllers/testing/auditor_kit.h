// For tests only: an auditor beside the controllers, and damage that is written straight into the
// store. Nothing happens by itself: Pass runs one pass and everything that follows from it.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/records.h"
#include "audit/finding.h"
#include "controllers/auditor.h"
#include "controllers/testing/controllers_kit.h"

namespace berth::controllers::testing {

class AuditorTest : public ControllersTest {
 protected:
  using PoolValue = alloc::PoolValue;

  AuditorTest() { StartAuditor(); }
  ~AuditorTest() override { auditor_.reset(); }

  /// Starts a new auditor, which knows nothing of earlier passes.
  void StartAuditor() {
    auditor_ = std::make_unique<Auditor>(
        Auditor::Parts{
            .follower = *follower_,
            .follow_up = {.registry = *registry_,
                          .ledger = addresses_.ledger,
                          .clock = store_.clock,
                          .log = *audit_log_,
                          .run = [this](commit::Write write) { return RunWrite(std::move(write)); },
                          .repair_metrics = &repair_metrics_,
                          .metrics = &auditor_metrics_,
                          .ranges = &findings_,
                          .repair_bitmaps = [this] { ++bitmap_repairs_; }},
            .cpu_time = [] { return std::chrono::nanoseconds(0); }},
        std::chrono::seconds(5), base::SeededRandom(5));
  }

  base::Result<commit::Written> RunWrite(commit::Write write) {
    if (fail_repairs_ > 0) {
      --fail_repairs_;
      return base::Fail(base::Reason::kServiceUnavailable, "the store is away");
    }
    std::optional<base::Result<commit::Written>> answer;
    sequencer_->Submit(std::move(write), [&answer](base::Result<commit::Written> written) {
      answer = std::move(written);
    });
    PumpAll();
    EXPECT_TRUE(answer) << "no answer";
    return answer ? *std::move(answer) : base::Fail(base::Reason::kUnknown, "no answer");
  }

  /// Runs the next pass and everything that follows. Returns its findings, one in a line.
  std::string Pass() {
    PumpAll();
    store_.clock.Advance(std::chrono::seconds(5));
    EXPECT_TRUE(auditor_->Work());
    PumpAll();
    std::string text;
    for (const audit::Finding& finding : auditor_->GetStatus().report->findings) {
      text += std::string(audit::NameOf(finding.kind)) + ": " + finding.message + "\n";
    }
    return text;
  }
  /// Returns the findings of the next pass, such as "NoRecord 10.96.0.10, TwoOwners 30009".
  std::string Kinds() {
    Pass();
    std::string text;
    for (const audit::Finding& finding : auditor_->GetStatus().report->findings) {
      text += (text.empty() ? "" : ", ") + std::string(audit::NameOf(finding.kind));
      if (finding.value) text += " " + allocation::RecordName(*finding.value);
    }
    return text;
  }

  // --- What is there -----------------------------------------------------------------------------

  static PoolValue Address(const std::string& text) {
    const ip::Addr address = ip::ParseAddr(text).value();
    return {.pool = alloc::PoolOf(address.family()), .value = address.bits()};
  }
  static PoolValue Port(uint16_t port) { return {.pool = alloc::PoolId::kPorts, .value = port}; }
  const registry::Row& RowOf(const PoolValue& value) const {
    return value.pool == alloc::PoolId::kPorts ? *rows_.node_ports : *rows_.ip_addresses;
  }
  std::string KeyOf(const PoolValue& value) const { return allocation::RecordKey(rows_, value); }
  bool HasRecord(const PoolValue& value) const {
    return follower_->Current()->Find(KeyOf(value)) != nullptr;
  }
  /// Returns "shop/web" if the record says so, "" if it names no Service, and "no record".
  std::string OwnerOf(const PoolValue& value) const {
    const auto found = follower_->Current()->Find(KeyOf(value));
    if (found == nullptr) return "no record";
    const auto named = allocation::ServiceNamedBy(rows_, *found);
    return named ? named->name_space + "/" + named->name : "";
  }
  codec::Value Stored(const registry::Row& row, const std::string& key) const {
    const auto found = follower_->Current()->Find(key);
    EXPECT_NE(found, nullptr) << key;
    return found ? registry::Registry::Decode(row, *found).value() : codec::Object();
  }
  const registry::Row& ServiceRow() const { return *kinds_.FindRow(api::kServiceKind); }

  /// Returns the events as "reason of kind name: message", in a line each, ordered.
  std::vector<std::string> Events(const std::string& name_space = "shop") const {
    const registry::Row& row = *kinds_.FindRow(api::kEventKind);
    std::vector<std::string> texts;
    for (auto at = follower_->Current()->Seek(row.prefix + name_space + "/"); at.Valid();
         at.Next()) {
      const auto event = registry::Registry::Decode(row, *at.Get()).value();
      texts.push_back(std::string(codec::StringAt(event, "reason")) + " of " +
                      std::string(codec::StringAt(event, "involvedObject", "kind")) + " " +
                      std::string(codec::StringAt(event, "involvedObject", "name")) + ": " +
                      std::string(codec::StringAt(event, "message")));
    }
    std::ranges::sort(texts);
    return texts;
  }
  /// Returns the lines that the auditor has logged. Ends the auditor.
  const std::vector<std::string>& Lines() {
    auditor_.reset();
    audit_log_.reset();  // Waits for the last line.
    return lines_;
  }
  uint64_t RepairCount(RepairKind kind) const {
    return auditor_metrics_.Repairs(static_cast<size_t>(kind));
  }
  static uint64_t Found(const obs::RepairMetrics::Loop& loop, std::string_view type) {
    for (size_t i = 0; i < loop.kTypes.size(); ++i) {
      if (loop.kTypes[i] == type) return loop.found[i].Value();
    }
    ADD_FAILURE() << type;
    return 0;
  }

  // --- What is done to it ------------------------------------------------------------------------

  /// Creates a Service through the registry.
  base::Result<registry::Outcome> TryMake(const std::string& name, const std::string& spec) {
    return Create(Service(""),
                  "{'metadata':{'name':'" + name + "'},'spec':{" + spec +
                      (spec.find("'ports'") == std::string::npos ? ",'ports':[{'port':80}]" : "") +
                      "}}");
  }
  void MakeService(const std::string& name, const std::string& spec) { Must(TryMake(name, spec)); }
  void Lose(const std::string& key) {
    store_.Delete(key);
    PumpAll();
  }
  /// Writes an object straight into the store.
  void Plant(const registry::Row& row, const std::string& name, const codec::Value& object) {
    store_.Put(row.prefix + name, codec::EncodeStored(object, *row.kind));
    PumpAll();
  }
  /// Changes an object straight in the store.
  void Edit(const registry::Row& row, const std::string& key,
            const std::function<void(codec::Value&)>& edit) {
    codec::Value object = Stored(row, key);
    edit(object);
    store_.Put(key, codec::EncodeStored(object, *row.kind));
    PumpAll();
  }
  /// Writes a copy of a Service under another name straight into the store, after an edit.
  void Copy(const std::string& from, const std::string& to,
            const std::function<void(codec::Value&)>& edit = nullptr) {
    codec::Value service = Stored(ServiceRow(), ServiceRow().prefix + "shop/" + from);
    codec::SetAt(service, {"metadata", "name"}, to);
    codec::SetAt(service, {"metadata", "uid"},
                 "7c9f1ad0-0000-4000-8000-00000000000" + to.substr(0, 1));
    if (edit) edit(service);
    Plant(ServiceRow(), "shop/" + to, service);
  }
  static void SetAddress(codec::Value& service, const std::string& address) {
    codec::SetAt(service, {"spec", "clusterIP"}, address);
    codec::SetAt(service, {"spec", "clusterIPs"}, codec::Array{address});
  }
  /// Copies a record to another value, which it then says that the Service has.
  void PlantRecord(const PoolValue& from, const PoolValue& to, const std::string& service) {
    codec::Value record = Stored(RowOf(from), KeyOf(from));
    codec::SetAt(record, {"metadata", "name"}, allocation::RecordName(to));
    codec::SetAt(record, {"spec", "parentRef", "name"}, service);
    store_.Put(KeyOf(to), codec::EncodeStored(record, *RowOf(to).kind));
    PumpAll();
  }
  /// Lets the store keep bitmaps, as if it had always done so.
  void BeginWithBitmaps() {
    store_.Put(allocation::KeyOf(allocation::BitmapId::kPrimary),
               allocation::StoredBitmap({.range = "10.96.0.0/16", .data = ""}));
    store_.Put(allocation::KeyOf(allocation::BitmapId::kPorts),
               allocation::StoredBitmap({.range = "30000-32767", .data = ""}));
    store_.Put(
        allocation::kFormKey,
        codec::EncodeStored(allocation::FormObject({.form = allocation::AllocationForm::kBitmaps},
                                                   store_.clock.Now()),
                            *rows_.fences->kind));
    PumpAll();
  }

  const allocation::RecordRows rows_ = allocation::RecordRowsOf(kinds_);
  std::vector<std::string> lines_;  // Written by the logger's thread.
  std::unique_ptr<base::Logger> audit_log_ = std::make_unique<base::Logger>(
      base::LogOptions{.sink = [this](std::string_view line) { lines_.emplace_back(line); }},
      store_.clock);
  obs::RepairMetrics repair_metrics_;
  obs::AuditorMetrics auditor_metrics_{FindingKindNames(), RepairKindNames()};
  int bitmap_repairs_ = 0;  // How often a repair of bitmaps was asked for.
  int fail_repairs_ = 0;    // How many of the next repairs fail.
  std::unique_ptr<Auditor> auditor_;
};

}  // namespace berth::controllers::testing
