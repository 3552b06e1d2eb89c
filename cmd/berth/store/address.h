// Where a store is, as people name it on the command line: `embedded:DIR` or
// `etcd:URL[,URL...]`. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cli {

struct Address {
  std::string directory = {};               // Of an embedded store; empty: etcd.
  std::vector<std::string> endpoints = {};  // Of etcd.

  bool IsEmbedded() const { return !directory.empty(); }

  /// As it was given.
  std::string Text() const;

  bool operator==(const Address&) const = default;
};

/// kInvalid: says what an address looks like.
base::Result<Address> ParseAddress(std::string_view text);

}  // namespace berth::cli
