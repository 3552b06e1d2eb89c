// Kubeconfig files: which of them count, how they are read, and how several become one. What an
// entry means is in `kubeconfig_entries.h`, and what follows from all of it in `find_access.h`.
//
// Every error names the file and, where it is known, the line. Pure, except that files are read
// through Surroundings.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "codec/value.h"
#include "kube/surroundings.h"

namespace berth::kube {

/// A cluster, a user or a context.
struct ConfigEntry {
  std::string name = {};
  std::string file = {};  ///< The file that contains the entry. Relative paths start in its folder.
  codec::Value body = {};  ///< An object.
  size_t line = 0;         ///< Where the entry begins in the file, from 1 on.
};

using ConfigEntries = std::map<std::string, ConfigEntry, std::less<>>;

struct Kubeconfig {
  std::vector<std::string> files = {};    ///< Those that were read, in order.
  std::vector<std::string> missing = {};  ///< Those that were looked for and do not exist.
  std::string current_context = {};
  ConfigEntries contexts = {};
  ConfigEntries clusters = {};
  ConfigEntries users = {};

  /// Returns whether it says nothing at all.
  bool IsEmpty() const;
};

/// Reads the text of one file. An empty text is an empty kubeconfig.
base::Result<Kubeconfig> ParseKubeconfig(std::string_view text, const std::string& file);

/// Adds what `next` has and `into` does not have. An entry comes whole from the first file that has
/// it, and the current context from the first file that sets one.
void MergeKubeconfig(Kubeconfig& into, Kubeconfig next);

/// Reads the files that kubectl would read: `path` alone if it is set; otherwise those of
/// $KUBECONFIG, of which some may not exist; otherwise ~/.kube/config, which need not exist.
base::Result<Kubeconfig> LoadKubeconfig(const std::string& path, const Surroundings& around);

}  // namespace berth::kube
