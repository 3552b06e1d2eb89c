// Opens the stores that commands work on; the wiring of the engines.
#pragma once

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
#include "store/slot.h"
#include "store/types.h"

namespace berth::cli {

/// As they were given.
struct EtcdArguments {
  std::string prefix = "/registry";
  std::string cacert = {};
  std::string cert = {};
  std::string key = {};
  std::string user = {};
  std::string password_file = {};  // Empty: the variable BERTH_ETCD_PASSWORD.
};

/// What every command needs; engines must not outlive it.
class Tools {
 public:
  const base::Clock& clock() const { return clock_; }
  /// To standard error; without the engines' warnings, which are meant for servers.
  base::Logger& log() { return log_; }

 private:
  base::SystemClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
};

/// A store that is open, with what its engine knows about itself.
struct OpenStore {
  std::unique_ptr<store::Engine> engine = {};
  store::Revision compacted = {};     // When it was opened.
  std::optional<uint64_t> keys = {};  // Where that costs nothing.
};

/// A store that is there, to be read.
base::Result<OpenStore> OpenToRead(const Address& address, const EtcdArguments& etcd, Tools& tools);

/// A store that is there, to be written to.
base::Result<OpenStore> OpenToChange(const Address& address, const EtcdArguments& etcd,
                                     Tools& tools);

/// A store to be filled: made, if it is not there, with revisions above `base`.
base::Result<OpenStore> OpenToFill(const Address& address, const EtcdArguments& etcd,
                                   store::Revision base, Tools& tools);

/// Where in a data directory the store is: in its folder "store", where `berth serve` puts it, or
/// the directory itself, if it is one. `to_make`: a new one goes into the folder.
std::string StoreDirectory(const std::string& data_dir, bool to_make = false);

/// How the engines note slots in values, and how values are without.
store::SlotCodec ObjectSlots();
store::Normalise WithoutSlots();

/// 2 when an argument, or what it names, is wrong, else 1.
int ExitCodeOf(const base::Error& error);

/// Prints "berth migrate: <message>" to standard error; returns ExitCodeOf.
int ReportError(std::string_view command, const base::Error& error);

}  // namespace berth::cli
