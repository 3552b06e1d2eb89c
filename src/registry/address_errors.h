// What a Service is told that cannot have an address or a port: Kubernetes' codes and words, and,
// where a range is full, what an operator can do. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/value.h"
#include "commit/allocations.h"
#include "commit/write.h"
#include "rules/service_claims.h"

namespace berth::registry {

/// What a refusal is about.
struct DenialFacts {
  commit::Claim claim = {};
  /// The range that the claim names, or the one that has the value; nothing: there is none.
  std::optional<commit::Allocations::RangeState> range = {};
  /// There is one of that name, but it is no range of such values.
  bool other_kind = false;
  /// Of a value that is reserved: somebody made the record through networking.k8s.io, which is what
  /// Kubernetes has a word for.
  bool by_hand = false;
  /// All of the pool, where that is what is full or does not have the value.
  std::vector<commit::Allocations::RangeState> ranges = {};
};
commit::Refusal AddressRefusal(const codec::Value& service, const rules::ServiceClaims& claims,
                               commit::Allocations::Denial denial, const DenialFacts& facts);

/// What is wrong with an annotation of the Service.
base::Error AnnotationError(const codec::Value& service, std::string_view annotation,
                            std::string_view why);

/// "is disabled", and so on: why nothing new is taken from a range.
std::string_view WhyNotOpen(const commit::Allocations::RangeState& range);

/// A sentence for each range of the pool: how much of which band is taken, and what helps.
std::vector<std::string> FullWarnings(commit::PoolId pool,
                                      const std::vector<commit::Allocations::RangeState>& ranges);

}  // namespace berth::registry
