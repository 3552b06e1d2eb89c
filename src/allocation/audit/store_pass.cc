#include "allocation/audit/store_pass.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "alloc/range_table.h"
#include "allocation/allocation_forms.h"
#include "allocation/bitmaps/bitmap_change.h"
#include "allocation/bitmaps/bitmap_ranges.h"
#include "allocation/bitmaps/stored_bitmaps.h"
#include "allocation/range_facts.h"
#include "api/kinds.h"
#include "audit/read.h"
#include "ip/cidr.h"
#include "rules/record_notes.h"

namespace berth::allocation {
namespace {

audit::Keeps KeepsOf(AllocationForm form) {
  switch (form) {
    case AllocationForm::kRecords:
      return audit::Keeps::kRecords;
    case AllocationForm::kBitmaps:
      return audit::Keeps::kBitmaps;
    case AllocationForm::kToRecords:
    case AllocationForm::kToBitmaps:
      break;
  }
  return audit::Keeps::kBoth;
}

PoolId PoolOfBitmap(std::string_view range) {
  const auto cidr = ip::ParseCidr(range);
  return cidr ? alloc::PoolOf(cidr->family()) : PoolId::kPorts;
}

}  // namespace

std::vector<const registry::Row*> AuditedRows(const registry::Kinds& kinds) {
  const RecordRows rows = RecordRowsOf(kinds);
  return {rows.fences,           rows.ip_ranges, rows.service_cidrs,
          rows.node_port_ranges, rows.bitmaps,   kinds.FindRow(api::kServiceKind),
          rows.ip_addresses,     rows.node_ports};
}

StorePass::StorePass(const registry::Kinds& kinds, StorePassOptions options)
    : rows_(RecordRowsOf(kinds)),
      services_(*kinds.FindRow(api::kServiceKind)),
      pass_({.revision = options.revision, .pause = std::move(options.pause)}) {}

void StorePass::Add(const state::Object& object) {
  const uint16_t resource = object.Resource();
  if (resource == services_.resource) return AddService(object);
  if (resource == rows_.ip_addresses->resource) return AddAddress(object);
  if (resource == rows_.node_ports->resource) return AddPort(object);
  if (resource == rows_.bitmaps->resource) return AddBitmap(object);
  for (const registry::Row* row : {rows_.ip_ranges, rows_.service_cidrs, rows_.node_port_ranges}) {
    if (resource == row->resource) return AddRange(*row, object);
  }
  if (const auto note = ReadFormNote(rows_, object)) form_ = note->form;
}

void StorePass::AddUndecodable(const std::string& key, const std::string& error) {
  pass_.AddUndecodable(key, error);
}

void StorePass::AddService(const state::Object& object) {
  const auto service = registry::DecodeWithoutManagedFields(services_, object);
  if (!service) return AddUndecodable(object.Key(), service.error().message);
  audit::ServiceFacts facts = audit::ReadService(*service);
  facts.object.revision = object.Revision();
  pass_.AddService(facts);
}

void StorePass::AddAddress(const state::Object& object) {
  const auto address = registry::DecodeWithoutManagedFields(*rows_.ip_addresses, object);
  if (!address) return AddUndecodable(object.Key(), address.error().message);
  auto facts = audit::ReadIpAddress(*address, rules::NotesOfHidden(object.Hidden()));
  if (!facts) return AddUndecodable(object.Key(), "its name is not an address");
  AddRecord(object, *std::move(facts));
}

void StorePass::AddPort(const state::Object& object) {
  const auto port = registry::DecodeWithoutManagedFields(*rows_.node_ports, object);
  if (!port) return AddUndecodable(object.Key(), port.error().message);
  auto facts = audit::ReadNodePort(*port);
  if (!facts) return AddUndecodable(object.Key(), "its name is not a port");
  AddRecord(object, *std::move(facts));
}

/// A stored reference to a range is only a hint: readers see one that is derived from the ranges
/// (allocation/range_references.h). So it is no finding if it is out of date.
void StorePass::AddRecord(const state::Object& object, audit::RecordFacts facts) {
  facts.object.revision = object.Revision();
  facts.range.clear();
  pass_.AddRecord(facts);
}

void StorePass::AddRange(const registry::Row& row, const state::Object& object) {
  const auto range = registry::DecodeWithoutManagedFields(row, object);
  if (!range) return AddUndecodable(object.Key(), range.error().message);
  audit::RangeObjectFacts& facts = ranges_.emplace_back(audit::ReadRange(RangeKindOf(row), *range));
  facts.object.revision = object.Revision();
  facts.key = object.Key();
}

void StorePass::AddBitmap(const state::Object& object) {
  if (!WritesBitmaps(form_) || !BitmapOf(rows_, object)) return;
  const BitmapView view = ViewOf(object);
  if (view.range.empty()) return;  // It was never written.
  const auto layout = ParseBitmapLayout(view.range);
  if (!layout) return AddUndecodable(object.Key(), "its range cannot be read");
  pass_.AddBitmap({.object = {.resource = "rangeallocations",
                              .name = std::string(object.Name()),
                              .revision = object.Revision()},
                   .pool = PoolOfBitmap(view.range),
                   .range = std::string(view.range),
                   .values = CompareBitmaps(*layout, {}, view.data).taken});
}

/// Where bitmaps are written, only the ranges that fit into them are in force.
void StorePass::MarkRangesInForce() {
  if (!WritesBitmaps(form_)) return;
  alloc::RangeObjects objects;
  for (const audit::RangeObjectFacts& range : ranges_) objects.emplace(range.key, range.range);
  alloc::RangeTable table = alloc::MakeRangeTable(objects, {});
  FitIntoBitmaps(table);
  for (audit::RangeObjectFacts& range : ranges_) {
    const auto is_row = [&range](const alloc::RangeRow& row) {
      return row.kind == range.range.kind && row.name == range.object.name;
    };
    range.in_force = std::ranges::any_of(table.rows, [&](const std::vector<alloc::RangeRow>& rows) {
      return std::ranges::any_of(rows, is_row);
    });
  }
}

audit::Report StorePass::Finish() && {
  pass_.SetKeeps(KeepsOf(form_));
  MarkRangesInForce();
  for (const audit::RangeObjectFacts& range : ranges_) pass_.AddRange(range);
  return std::move(pass_).Finish();
}

}  // namespace berth::allocation
