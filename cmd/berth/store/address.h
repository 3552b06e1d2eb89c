// The address of a store on the command line: `embedded:DIR` or `etcd:URL[,URL...]`. Pure
// functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cli {

struct Address {
  std::string directory = {};               // Of an embedded store. Empty for etcd.
  std::vector<std::string> endpoints = {};  // Of etcd.

  bool IsEmbedded() const { return !directory.empty(); }

  /// Returns the address as on the command line.
  std::string Text() const;

  bool operator==(const Address&) const = default;
};

/// Returns kInvalid, with an example of an address, if the text is not one.
base::Result<Address> ParseAddress(std::string_view text);

}  // namespace berth::cli
