#include "berth/verify/store_look.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "allocation/allocation_forms.h"
#include "allocation/audit/store_pass.h"
#include "allocation/records.h"
#include "berth/store/stored_objects.h"
#include "registry/kind_rows.h"
#include "state/object.h"

namespace berth::cli {
namespace {

using base::Result;

/// Shows the objects of a store to a pass.
class ObjectPass {
 public:
  explicit ObjectPass(const LookProgress& progress)
      : rows_(allocation::RecordRowsOf(kinds_)),
        audited_(allocation::AuditedRows(kinds_)),
        progress_(progress),
        pass_(kinds_, {.pause = [this] { Show(); }}) {}
  ~ObjectPass() = default;
  ObjectPass(const ObjectPass&) = delete;
  ObjectPass& operator=(const ObjectPass&) = delete;

  const registry::Kinds& kinds() const { return kinds_; }

  /// Returns all rows in the order in which a pass should see them.
  std::vector<const registry::Row*> RowsInOrder() const {
    std::vector<const registry::Row*> rows = audited_;
    for (const registry::Row& row : kinds_.Rows()) {
      if (!IsAudited(row)) rows.push_back(&row);
    }
    return rows;
  }

  StoredVisitor Visitor() {
    return {.object = [this](const registry::Row& row,
                             const state::Object& object) { Add(row, object); },
            .undecodable = [this](const std::string& key,
                                  const std::string& error) { pass_.AddUndecodable(key, error); },
            .progress =
                [this](uint64_t keys) {
                  keys_ = keys;
                  Show();
                }};
  }

  /// `revision` is that of all objects.
  Look Finish(store::Revision revision) && {
    doing_ = "comparing";
    Look look{.form = std::string(allocation::FormText(pass_.Form())), .newest_write = newest_};
    look.report = std::move(pass_).Finish();
    look.report.revision = revision.value;
    return look;
  }

 private:
  void Add(const registry::Row& row, const state::Object& object) {
    if (!IsAudited(row)) return;
    pass_.Add(object);
    if (HoldsValues(row)) newest_ = std::max(newest_, object.Revision());
  }
  void Show() const {
    if (progress_) progress_(doing_, keys_);
  }
  bool IsAudited(const registry::Row& row) const {
    return std::ranges::find(audited_, &row) != audited_.end();
  }
  bool HoldsValues(const registry::Row& row) const {
    return &row == rows_.services || &row == rows_.ip_addresses || &row == rows_.node_ports ||
           &row == rows_.bitmaps;
  }

  const registry::Kinds kinds_;
  const allocation::RecordRows rows_;
  const std::vector<const registry::Row*> audited_;
  const LookProgress& progress_;
  const char* doing_ = "reading";
  uint64_t keys_ = 0;
  int64_t newest_ = 0;
  allocation::StorePass pass_;
};

}  // namespace

Result<Look> LookAtStore(store::Engine& engine, const LookProgress& progress) {
  ObjectPass pass(progress);
  const auto revision = VisitStore(engine, pass.kinds(), pass.RowsInOrder(), pass.Visitor());
  if (!revision) return tl::unexpected(revision.error());
  return std::move(pass).Finish(*revision);
}

Result<Look> LookAtSnapshot(const std::string& path, const LookProgress& progress) {
  ObjectPass pass(progress);
  const auto revision = VisitSnapshot(path, pass.kinds(), pass.Visitor());
  if (!revision) return tl::unexpected(revision.error());
  return std::move(pass).Finish(*revision);
}

}  // namespace berth::cli
