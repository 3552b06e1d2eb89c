#include "berth/inspect/store_source.h"

#include <fmt/format.h>

#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/audit/store_pass.h"
#include "allocation/range_facts.h"
#include "allocation/records.h"
#include "berth/store/open.h"
#include "berth/store/stored_objects.h"
#include "registry/registry.h"
#include "rules/record_notes.h"

namespace berth::cli {
namespace {

using base::Result;

/// Shows the objects of a store to the reader of a view.
class StoreView {
 public:
  explicit StoreView(inspect::ClusterReader& reader)
      : rows_(allocation::RecordRowsOf(kinds_)), reader_(reader) {}

  const registry::Kinds& kinds() const { return kinds_; }
  std::vector<const registry::Row*> Rows() const { return allocation::AuditedRows(kinds_); }

  StoredVisitor Visitor() {
    return {.object = [this](const registry::Row& row,
                             const state::Object& object) { Add(row, object); },
            .undecodable = [this](const std::string&, const std::string&) { ++undecodable_; }};
  }

  void Finish(std::string source, store::Revision revision) {
    inspect::Cluster& view = reader_.view();
    view.source = std::move(source);
    view.server = inspect::ServerKind::kBerth;
    view.revision = revision.value;
    view.keeps = form_ == allocation::AllocationForm::kRecords ? audit::Keeps::kRecords
                                                               : audit::Keeps::kNothing;
    if (form_ != allocation::AllocationForm::kRecords) {
      reader_.AddGap({.what = "the store keeps allocations as bitmaps, which have no owners",
                      .advice = "berth verify compares them with the Services"});
    }
    if (undecodable_ > 0) {
      reader_.AddGap({.what = fmt::format("{} stored values cannot be decoded", undecodable_),
                      .advice = "berth verify names them"});
    }
  }

 private:
  void Add(const registry::Row& row, const state::Object& object) {
    if (&row == rows_.services) {
      // Managed fields tell which values were named.
      if (const auto service = registry::Registry::Decode(row, object))
        reader_.AddService(*service);
      return;
    }
    if (const auto note = allocation::ReadFormNote(rows_, object)) form_ = note->form;
    const auto value = registry::DecodeWithoutManagedFields(row, object);
    if (!value) return;
    if (&row == rows_.ip_addresses) {
      reader_.AddStoredAddress(*value, rules::NotesOfHidden(object.Hidden()));
    } else if (&row == rows_.node_ports) {
      reader_.AddNodePort(*value);
    } else if (&row == rows_.ip_ranges || &row == rows_.service_cidrs ||
               &row == rows_.node_port_ranges) {
      reader_.AddRange(allocation::RangeKindOf(row), *value);
    }
  }

  const registry::Kinds kinds_;
  const allocation::RecordRows rows_;
  inspect::ClusterReader& reader_;
  allocation::AllocationForm form_ = allocation::AllocationForm::kRecords;
  uint64_t undecodable_ = 0;
};

}  // namespace

Result<void> ReadClusterDirectory(const std::string& data_dir, inspect::ClusterReader& reader) {
  const Address address{.directory = data_dir};
  Tools tools;
  const auto store = OpenToRead(address, {}, tools);
  if (!store) {
    if (store.error().reason != base::Reason::kConflict) return tl::unexpected(store.error());
    return base::Fail(base::Reason::kConflict,
                      fmt::format("{}; or look at the running server: --kubeconfig "
                                  "{}/admin.kubeconfig",
                                  store.error().message, data_dir));
  }
  StoreView view(reader);
  const auto revision = VisitStore(*store->engine, view.kinds(), view.Rows(), view.Visitor());
  if (!revision) return tl::unexpected(revision.error());
  view.Finish(address.Text(), *revision);
  return {};
}

Result<void> ReadClusterSnapshot(const std::string& path, inspect::ClusterReader& reader) {
  StoreView view(reader);
  const auto revision = VisitSnapshot(path, view.kinds(), view.Visitor());
  if (!revision) return tl::unexpected(revision.error());
  view.Finish("snapshot:" + path, *revision);
  return {};
}

}  // namespace berth::cli
