// What a caller asks of the registry, and what the registry answers. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "codec/value.h"
#include "commit/write.h"
#include "registry/kind_rows.h"

namespace berth::registry {

/// The outcome of a write.
struct Outcome {
  /// The object as it is now. After a deletion, the object as it was; after an update that removed
  /// the last finalizer, the object as the update would have left it.
  commit::Written written;
  std::vector<std::string> warnings = {};  // For the client.
};
using Done = std::function<void(base::Result<Outcome>)>;

/// An object. Cluster-scoped ones have no namespace. The name is the one in the view.
struct Target {
  Served served;
  std::string name_space = {};
  std::string name = {};
};

struct CommonOptions {
  bool dry_run = false;
  base::SteadyTime deadline = base::SteadyTime::max();
  std::string manager = {};  // The field manager, for managedFields.
  /// The server writes the first objects of a store. Hooks may allow more then.
  bool bootstraps = false;
};

/// The kinds of updates.
enum class Way : uint8_t {
  kReplace,  // The client sends the whole object, which may be new.
  kPatch,    // The client changes an object that exists.
  kApply,    // Server-side apply (merge::Apply). The object may be new; managedFields are complete.
};

struct UpdateOptions {
  Door door = Door::kMain;
  Way way = Way::kReplace;
};

/// A new state in the stored form, and warnings about it for the client.
struct Next {
  codec::Value object;
  std::vector<std::string> warnings = {};
};
/// Returns the new state, given the current one. `current` is null if the object does not exist and
/// the update may create it. Runs again when the object has changed meanwhile.
using NextState = std::function<base::Result<Next>(const codec::Value* current)>;

enum class Propagation : uint8_t { kBackground, kForeground, kOrphan };

struct DeleteOptions {
  std::optional<std::string> uid = {};
  std::optional<std::string> resource_version = {};
  /// If unset, the propagation that an earlier delete of the object asked for, or else in the
  /// background.
  std::optional<Propagation> propagation = {};
};

}  // namespace berth::registry
