// Errors for a Service that cannot get an address or a port: Kubernetes' codes and words, and,
// where a range is full, what an operator can do about it. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "allocation/ledger/ledger_view.h"
#include "codec/value.h"
#include "commit/write.h"
#include "rules/service_claims.h"

namespace berth::allocation {

/// What a denial is about.
struct DenialFacts {
  Claim claim = {};
  /// The range that the claim names, or the range that has the value. Nullopt if no such range
  /// exists.
  std::optional<RangeState> range = {};
  /// A range of the named name exists, but it has values of another kind.
  bool other_kind = false;
  /// For a reserved value: the record was created through networking.k8s.io. Kubernetes has its own
  /// message for that.
  bool by_hand = false;
  /// Which Service has the value, or what it is reserved for (holder_warning.h).
  std::optional<std::string> holder = {};
  /// All ranges of the pool, if the pool is full or does not have the value.
  std::vector<RangeState> ranges = {};
  /// The store has no range of ports, or of addresses of any family. A cluster always has one, so
  /// the ranges were lost.
  bool ranges_lost = false;
};
commit::Refusal AddressRefusal(const codec::Value& service, const rules::ServiceClaims& claims,
                               Denial denial, const DenialFacts& facts);

/// Returns the error about an annotation of the Service.
base::Error AnnotationError(const codec::Value& service, std::string_view annotation,
                            std::string_view why);

/// Returns why nothing new is taken from a range: "is disabled", and so on.
std::string_view WhyNotOpen(const RangeState& range);

/// Returns a sentence for each range of the pool: how much of which band is taken, and what helps.
std::vector<std::string> FullWarnings(PoolId pool, const std::vector<RangeState>& ranges);

}  // namespace berth::allocation
