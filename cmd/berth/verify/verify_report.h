// Renders what `berth verify` has found: for people, and as a document for scripts. docs/audit.md
// describes both. Pure functions.
#pragma once

#include <string>

#include "berth/paint.h"
#include "berth/verify/look.h"
#include "codec/value.h"

namespace berth::cli {

/// How many findings of one kind the text lists. Documents have all that the report has.
inline constexpr size_t kFindingsInText = 20;

/// `source` names what was looked at: "embedded:/var/lib/berth", "https://127.0.0.1:6443".
/// Long lines are wrapped at `wrap` columns, or left whole if it is 0.
std::string VerifyText(const std::string& source, const Look& look, const Paint& paint,
                       size_t wrap = 0);

/// Returns a document with all keys. A value that does not exist is null.
codec::Value VerifyDocument(const std::string& source, const Look& look);

}  // namespace berth::cli
