// Answers with the headers that keep browsers from doing harm with them: nothing is framed, run,
// sniffed or kept. Pure functions, for any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "codec/value.h"
#include "http/message.h"

namespace berth::ui {

/// Adds the headers that every answer has. The policy allows scripts, styles and connections of the
/// same origin only, and no inline script or style.
http::Response Secured(http::Response response);

/// Returns an answer that no cache keeps.
http::Response JsonAnswer(int code, const codec::Value& document);
/// Returns {code, message}.
http::Response ErrorAnswer(int code, std::string_view message);
/// Returns the same for an error. kInvalid, which is about a parameter, becomes 400.
http::Response ErrorAnswer(const base::Error& error);

/// A short page for people, without scripts. Texts are escaped.
struct Page {
  int code = 200;
  std::string title = {};
  std::vector<std::string> paragraphs = {};
  bool go_on = false;  ///< The browser goes to "/" at once.
};
http::Response PageAnswer(const Page& page);

/// Returns whether an If-None-Match header names this entity tag.
bool NamesTag(std::string_view if_none_match, std::string_view tag);

/// Returns whether an Accept-Encoding header names this encoding, and not with q=0.
bool NamesEncoding(std::string_view accept_encoding, std::string_view encoding);

}  // namespace berth::ui
