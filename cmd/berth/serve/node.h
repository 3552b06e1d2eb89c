// One running server: store, state, registry and API, wired together. Only this class knows all
// parts. It creates them in the order of their dependencies and destroys them in reverse order.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

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
  struct Options {
    const ServeArguments& arguments;
    const ServeSettings& settings;
    http::TlsSettings tls;
    bool shared = false;          // Whether other replicas write to the store as well.
    std::string store_name = {};  // "embedded:DIR", "etcd:URL". The source of snapshots.
    std::string version;
    obs::WriteMetrics& writes;  // The metrics that the engine counts with.
  };
  /// Starts a server on the store `engine`. It serves when this returns.
  static base::Result<std::unique_ptr<Node>> Start(std::unique_ptr<store::Engine> engine,
                                                   const Options& options, const base::Clock& clock,
                                                   base::Logger& log);
  ~Node();
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  uint16_t port() const;
  /// Returns what an operator should read at the start, one sentence each.
  const std::vector<std::string>& notes() const;

  /// Replaces the certificates, and reads the tokens again.
  base::Result<void> Reload(const http::TlsSettings& tls, const std::string& token_file);

  /// Ends watches cleanly and waits until all requests have ended, at most for `limit`. Returns
  /// false if some requests have not ended.
  bool Drain(std::chrono::nanoseconds limit);

 private:
  struct Parts;
  explicit Node(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace berth::cli
