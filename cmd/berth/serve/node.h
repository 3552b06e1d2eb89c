// One running server: store, picture, registry and API, wired together; the only place that knows
// all of them. Made in order, taken apart in the opposite one.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "base/result.h"
#include "berth/serve/arguments.h"
#include "http/server.h"
#include "http/tls_settings.h"
#include "obs/write_metrics.h"
#include "store/engine.h"

namespace berth::cli {

class Node {
 public:
  /// Serves when it returns. `engine` is the store; `shared`: others write to it as well.
  struct Options {
    const ServeArguments& arguments;
    const ServeSettings& settings;
    http::TlsSettings tls;
    bool shared = false;
    std::string store_name = {};  // "embedded:DIR", "etcd:URL": where snapshots come from.
    std::string version;
    obs::WriteMetrics& writes;  // Those that the engine counts with.
  };
  static base::Result<std::unique_ptr<Node>> Start(std::unique_ptr<store::Engine> engine,
                                                   const Options& options, const base::Clock& clock,
                                                   base::Logger& log);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  uint16_t port() const;

  /// New certificates and tokens.
  base::Result<void> Reload(const http::TlsSettings& tls, const std::string& token_file);

  /// Ends watches cleanly, lets what is under way finish, for so long at most.
  bool Drain(std::chrono::nanoseconds limit);

 private:
  struct Parts;
  explicit Node(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace berth::cli
