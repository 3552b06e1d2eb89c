// Renders what `berth verify` has found: for people, and as a document for scripts. docs/audit.md
// describes both. Pure functions.
#pragma once

#include <string>

#include "berth/paint.h"
#include "berth/verify/look.h"
#include "codec/value.h"

namespace berth::cli {

/// How many findings of one kind the text lists. Wide text and documents have all that the report
/// has.
inline constexpr size_t kFindingsInText = 20;

/// How the text looks.
struct VerifyLayout {
  size_t wrap = 0;    ///< Columns at which long lines are wrapped; 0 leaves them whole.
  bool wide = false;  ///< All findings, each with the objects that it is about.
};

/// `source` names what was looked at: "embedded:/var/lib/berth", "https://127.0.0.1:6443".
std::string VerifyText(const std::string& source, const Look& look, const Paint& paint,
                       const VerifyLayout& layout = {});

/// Returns a document with all keys. A value that does not exist is null.
codec::Value VerifyDocument(const std::string& source, const Look& look);

}  // namespace berth::cli
