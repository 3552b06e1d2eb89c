// Renders the answers of `berth whois` for scripts. docs/whois.md describes the keys.
#pragma once

#include <vector>

#include "codec/value.h"
#include "inspect/whois.h"

namespace berth::cli {

codec::Value WhoisDocument(const inspect::Census& census,
                           const std::vector<inspect::WhoisAnswer>& answers);

}  // namespace berth::cli
