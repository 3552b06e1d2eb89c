// Shows the answer of a command about a cluster: reads the view, asks the question, and prints the
// answer as a table or as a document. With --watch it does so again whenever the cluster changes.
// A command whose answer is no pure function of the view uses ShowAgain for its --watch.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "berth/exit_code.h"
#include "berth/inspect/load_cluster.h"
#include "berth/inspect/source_arguments.h"
#include "berth/terminal.h"
#include "codec/value.h"
#include "inspect/census.h"

namespace berth::cli {

/// The columns that the tables of these commands can use.
inline constexpr WidthLimits kInspectWidths = {.narrowest = 40, .widest = 120};

/// How a command answers. All functions are pure.
struct Answer {
  /// Returns an error if the question makes no sense for this cluster, such as the name of a range
  /// that it does not have. The error is then all that is printed. If unset, every question makes
  /// sense.
  std::function<base::Result<void>(const inspect::Census& census)> check = {};
  /// Returns the text for people. `wide` asks for all columns.
  std::function<std::string(const inspect::Census& census, const Style& style, bool wide)> text;
  /// Returns the document for scripts.
  std::function<codec::Value(const inspect::Census& census)> document;
  /// Whether the answer would be wrong, and not only incomplete, without all Services.
  bool needs_all_services = false;
  /// Returns the exit code for an answer that was printed. If unset, it is 0.
  std::function<int(const inspect::Census& census)> exit_code = {};
};

/// Runs a command of this name. Returns the exit code: 0 for success, 2 for invalid arguments or
/// files, 1 for other errors. Errors go to standard error.
int Show(std::string_view command, const SourceArguments& source, const OutputArguments& output,
         const Answer& answer);

/// Returns whether the format is for people.
bool IsTable(std::string_view format);

/// Fails with kInvalid if there is no such format.
base::Result<void> CheckFormat(std::string_view command, std::string_view format);

/// An answer as it is printed.
struct Rendered {
  std::string text = {};
  int code = kFine;  ///< The exit code that goes with it.
};

/// How a command answers again and again.
struct LiveAnswer {
  /// Returns the answer for the next view. Called in one thread. An error ends the command.
  std::function<base::Result<Rendered>(const inspect::Cluster& view)> render;
  bool table = true;  ///< The answer is for people: a terminal shows as much as it has rows.
  /// Whether time alone may change the answer. A pipe then gets it if it differs from the last one,
  /// and otherwise whenever the cluster has changed.
  bool ripens = false;
  int not_written = kFailed;  ///< The exit code if an answer cannot be written.
};

/// Prints the answer, and again whenever the cluster has changed, until the user ends the program
/// or the reader of the output closes it. A terminal shows the newest answer only; in a pipe a
/// blank line separates them. Returns the exit code of the last answer.
base::Result<int> ShowAgain(RunningCluster running, const base::Clock& clock,
                            const LiveAnswer& answer);

}  // namespace berth::cli
