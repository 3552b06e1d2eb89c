#include "berth/store/stored_objects.h"

#include <fmt/format.h>

#include <vector>

#include "api/kinds.h"
#include "base/go_text.h"
#include "state/resource.h"
#include "store/blocking.h"
#include "store/copy.h"
#include "store/snapshot_file.h"

namespace berth::cli {
namespace {

using base::Result;

constexpr uint64_t kKeysPerProgress = 512;

/// Decodes entries and shows them to the visitor.
class EntryWalk {
 public:
  EntryWalk(const registry::Kinds& kinds, const StoredVisitor& visitor)
      : kinds_(kinds), resources_(kinds.MakeResources()), visitor_(visitor) {
    for (const registry::Row& row : kinds.Rows()) rows_.push_back(&row);
  }

  void Add(const store::Entry& entry) {
    if (++keys_ % kKeysPerProgress == 0 && visitor_.progress) visitor_.progress(keys_);
    const auto identity = resources_.Find(entry.key);
    if (!identity) return;  // A note of an engine, or a key of another program.
    const auto wire = resources_.At(identity->resource).decode(entry.value);
    if (!wire) {
      if (visitor_.undecodable) visitor_.undecodable(entry.key, wire.error().message);
      return;
    }
    const registry::Row* row = RowOf(identity->resource);
    if (row == nullptr || !visitor_.object) return;
    visitor_.object(*row, *state::Object::Make(*identity, entry.revision.value, *wire));
  }

 private:
  const registry::Row* RowOf(uint16_t resource) const {
    for (const registry::Row* row : rows_) {
      if (row->resource == resource) return row;
    }
    return nullptr;
  }

  const registry::Kinds& kinds_;
  const state::Resources resources_;
  const StoredVisitor& visitor_;
  std::vector<const registry::Row*> rows_;
  uint64_t keys_ = 0;
};

Result<void> CheckComplete(store::Engine& engine) {
  const auto note = store::UnfinishedCopy(engine);
  if (!note) return tl::unexpected(note.error());
  if (!*note) return {};
  return base::Fail(base::Reason::kConflict,
                    fmt::format("the store is incomplete: it holds an unfinished copy ({}); "
                                "finish that copy, or look at its source instead",
                                base::ToVisible(**note)));
}

}  // namespace

Result<store::Revision> VisitStore(store::Engine& engine, const registry::Kinds& kinds,
                                   const std::vector<const registry::Row*>& rows,
                                   const StoredVisitor& visitor) {
  if (auto complete = CheckComplete(engine); !complete) return tl::unexpected(complete.error());
  // The first page decides the revision, and all others show the store as it was then.
  const auto first = store::ScanPageNow(engine, {.prefix = "/registry/", .limit = 1});
  if (!first) return tl::unexpected(first.error());
  EntryWalk walk(kinds, visitor);
  for (const registry::Row* row : rows) {
    const auto read = store::ScanPages(engine, {.prefix = row->prefix, .at = first->at},
                                       [&walk](const store::ScanPage& page) {
                                         for (const store::Entry& entry : page.entries)
                                           walk.Add(entry);
                                       });
    if (!read) return tl::unexpected(read.error());
  }
  return first->at;
}

Result<store::Revision> VisitSnapshot(const std::string& path, const registry::Kinds& kinds,
                                      const StoredVisitor& visitor) {
  EntryWalk walk(kinds, visitor);
  const std::string_view services = kinds.FindRow(api::kServiceKind)->prefix;
  store::Revision revision;
  for (const bool first_pass : {true, false}) {
    const auto read = store::ReadSnapshotFile(path, [&](const store::Entry& entry) {
      if (entry.key.starts_with(services) == first_pass) walk.Add(entry);
      return Result<void>();
    });
    if (!read) return tl::unexpected(read.error());
    revision = read->revision;
  }
  return revision;
}

}  // namespace berth::cli
