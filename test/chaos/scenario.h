// What the tests of this folder share: the network that can be cut, and rounds of one fault.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "chaos/arena.h"
#include "chaos/faults.h"
#include "chaos/round.h"

namespace berth::chaos {

/// Null when there cannot be one here; then WhyNoNetwork says why. Tests that need it are skipped.
Network* TestNetwork();
const std::string& WhyNoNetwork();

/// Whether it holds in time.
bool Within(std::chrono::seconds limit, const std::function<bool()>& holds);

/// How many rounds a scenario has: one, and ten in the long form.
int64_t Rounds();

/// Runs the rounds in one arena, each with a prefix and a seed of its own; fails the test with what
/// the checks find. Prints what happened and returns it.
Tally RunScenario(const std::string& name, const ArenaOptions& options, const Fault& fault);

}  // namespace berth::chaos
