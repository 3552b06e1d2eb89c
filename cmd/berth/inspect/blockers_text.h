// Renders the answers of `berth blockers`.
#pragma once

#include <string>
#include <vector>

#include "berth/terminal.h"
#include "codec/value.h"
#include "inspect/blockers.h"

namespace berth::cli {

/// `wide` lists all blockers. Otherwise long lists are cut.
std::string BlockersText(const inspect::Census& census,
                         const std::vector<inspect::Blockers>& answers, const Style& style,
                         bool wide);

/// Returns the document for scripts. docs/whois.md describes its keys.
codec::Value BlockersDocument(const inspect::Census& census,
                              const std::vector<inspect::Blockers>& answers);

/// Says what the server would do now. `others` means that values of another family are in the way.
std::string OutcomeText(const inspect::Blockers& answer, bool others);

/// Returns why a value is hard to move, in a few words: "named by helm; node port".
std::string WhyText(const inspect::Blocker& blocker);

}  // namespace berth::cli
