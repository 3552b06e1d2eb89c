// Renders the answers of `berth whois` for people.
#pragma once

#include <string>
#include <vector>

#include "berth/terminal.h"
#include "inspect/whois.h"

namespace berth::cli {

/// `wide` lists everything. Otherwise long lists are cut.
std::string WhoisText(const inspect::Census& census,
                      const std::vector<inspect::WhoisAnswer>& answers, const Style& style,
                      bool wide);

}  // namespace berth::cli
