// Renders the answers of `berth whois` for people.
#pragma once

#include <string>
#include <vector>

#include "berth/inspect/fact_list.h"
#include "berth/terminal.h"
#include "inspect/whois.h"

namespace berth::cli {

/// `wide` lists everything. Otherwise long lists are cut.
std::string WhoisText(const inspect::Census& census,
                      const std::vector<inspect::WhoisAnswer>& answers, const Style& style,
                      bool wide);

/// Returns what is wrong with a value that a Service has, or an empty text.
std::string TroubleWith(const inspect::Census& census, const inspect::Service& service,
                        const inspect::Held& held);

/// Returns what is known about a Service itself.
FactList ServiceFacts(const inspect::Census& census, const inspect::Service& service,
                      const Paint& paint);

}  // namespace berth::cli
