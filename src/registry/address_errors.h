// What a Service is told that cannot have an address or a port: Kubernetes' codes and words, and,
// where a range is full, what an operator can do. Pure.
#pragma once

#include <string>
#include <vector>

#include "codec/value.h"
#include "commit/allocations.h"
#include "commit/write.h"
#include "rules/service_claims.h"

namespace berth::registry {

/// `ranges`: as they are now.
commit::Refusal AddressRefusal(const codec::Value& service, const rules::ServiceClaims& claims,
                               commit::Allocations::Denial denial,
                               const std::vector<commit::Allocations::RangeState>& ranges);

/// A sentence for each range of the pool: how much of which band is taken, and what helps.
std::vector<std::string> FullWarnings(commit::PoolId pool,
                                      const std::vector<commit::Allocations::RangeState>& ranges);

}  // namespace berth::registry
