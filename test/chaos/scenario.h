// Shared by the tests of this folder: the network that can be cut, and rounds of one fault.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "chaos/arena.h"
#include "chaos/faults.h"
#include "chaos/round.h"

namespace berth::chaos {

/// Returns null if the network cannot be made here; then WhyNoNetwork returns the reason. Tests
/// that need the network are skipped.
Network* TestNetwork();
const std::string& WhyNoNetwork();

/// Waits until `holds` returns true. Returns false if it does not within the limit.
bool Within(std::chrono::seconds limit, const std::function<bool()>& holds);

/// Returns the minimum number of rounds of a scenario: one, and ten in the long form.
int64_t Rounds();

/// Runs the rounds in one arena, each with its own prefix and seed. Fails the test with what the
/// checks find. Prints what happened and returns it.
Tally RunScenario(const std::string& name, const ArenaOptions& options, const Fault& fault);

}  // namespace berth::chaos
