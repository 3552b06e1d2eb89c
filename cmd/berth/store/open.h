// Opens the stores that commands work on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/result.h"
#include "berth/store/address.h"
#include "store/digest.h"
#include "store/engine.h"
#include "store/event_slot.h"
#include "store/types.h"

namespace berth::cli {

/// How long reading a whole store may take.
inline constexpr std::chrono::minutes kLoadLimit{10};

/// The arguments as given.
struct EtcdArguments {
  std::string prefix = "/registry";
  std::string cacert = {};
  std::string cert = {};
  std::string key = {};
  std::string user = {};
  std::string password_file = {};  // Empty means the environment variable BERTH_ETCD_PASSWORD.
};

/// The clock and the log of a command. Engines must not outlive it.
class Tools {
 public:
  const base::Clock& clock() const { return clock_; }
  /// Writes to standard error, without the engines' warnings, which are meant for servers.
  base::Logger& log() { return log_; }

 private:
  base::SystemClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
};

/// An open store.
struct OpenStore {
  std::unique_ptr<store::Engine> engine = {};
  store::Revision compacted = {};     // The compacted revision when the store was opened.
  std::optional<uint64_t> keys = {};  // If the engine knows it without counting.
};

/// Opens an existing store for reading. Nothing is written to it, except that a data directory's
/// lock file names this process.
base::Result<OpenStore> OpenToRead(const Address& address, const EtcdArguments& etcd, Tools& tools);

/// Opens an existing store for writing.
base::Result<OpenStore> OpenToChange(const Address& address, const EtcdArguments& etcd,
                                     Tools& tools);

/// Opens a store to fill it. Creates it, with revisions above `base`, if it does not exist.
base::Result<OpenStore> OpenToFill(const Address& address, const EtcdArguments& etcd,
                                   store::Revision base, Tools& tools);

/// Returns the directory of the store in a data directory: its folder "store", which `berth serve`
/// creates, or the data directory itself if that is a store. If there is no store yet, returns the
/// folder if `to_make`.
std::string StoreDirectory(const std::string& data_dir, bool to_make = false);

/// Return how engines write slots into values, and how to remove the slots.
store::SlotCodec ObjectSlots();
store::Normalise WithoutSlots();

/// Returns 2 for invalid arguments or files, otherwise 1.
int ExitCodeOf(const base::Error& error);

/// Prints "berth migrate: <message>" to standard error. Returns ExitCodeOf(error).
int ReportError(std::string_view command, const base::Error& error);

}  // namespace berth::cli
