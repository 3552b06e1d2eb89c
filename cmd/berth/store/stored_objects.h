// Walks over the objects of a store or of a snapshot file, all at one revision. Reads only.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "registry/kind_rows.h"
#include "state/object.h"
#include "store/engine.h"

namespace berth::cli {

/// Receives what a store holds. Every function may be empty.
struct StoredVisitor {
  /// Called with the object and the row of its kind.
  std::function<void(const registry::Row& row, const state::Object& object)> object = {};
  /// Called for a stored value that cannot be decoded.
  std::function<void(const std::string& key, const std::string& error)> undecodable = {};
  /// Called now and then with the number of keys read so far.
  std::function<void(uint64_t keys)> progress = {};
};

/// Visits the objects of the rows in this order, page by page. `kinds` must own the rows. Returns
/// the revision. Fails if the store holds an unfinished copy, and with kExpired if history was
/// given up before everything was read.
base::Result<store::Revision> VisitStore(store::Engine& engine, const registry::Kinds& kinds,
                                         const std::vector<const registry::Row*>& rows,
                                         const StoredVisitor& visitor);

/// Visits the objects of a snapshot file, Services first, because most readers need least memory in
/// that order. Fails with kInvalid if the file is not a valid snapshot.
base::Result<store::Revision> VisitSnapshot(const std::string& path, const registry::Kinds& kinds,
                                            const StoredVisitor& visitor);

}  // namespace berth::cli
