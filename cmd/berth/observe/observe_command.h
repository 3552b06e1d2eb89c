// `berth observe`: follows a cluster, records who holds what, and serves metrics and answers.
#pragma once

#include <string>

#include "berth/inspect/source_arguments.h"
#include "berth/ui/observe_ui.h"

namespace berth::cli {

/// The arguments as given.
struct ObserveArguments {
  SourceArguments source = {};
  std::string data_dir = {};
  std::string listen = "127.0.0.1:9464";
  int keep_days = 90;
  std::string keep_bytes = "1Gi";
  int max_lag = 60;  ///< Seconds.
  std::string tls_cert_file = {};
  std::string tls_private_key_file = {};
  bool once = false;
  ObserveUiArguments page = {};
};

/// Runs the command until a signal ends it, or once. Returns the exit code. Errors go to standard
/// error.
int RunObserve(const ObserveArguments& arguments);

}  // namespace berth::cli
