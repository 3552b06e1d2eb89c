// The parts of a response head that both protocols or the client need. All but DateText is pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/message.h"

namespace berth::http {

/// Returns the phrase for a code, such as "Not Found", or "Status" for a code that has no name.
std::string_view ReasonPhrase(int code);

/// Returns whether answers with this code may have a body.
bool MayHaveBody(int code);

/// Returns whether a field is about the connection. The server sets those, not the handler.
bool IsConnectionHeader(std::string_view lower_name);

/// Returns whether the texts are equal except for the case of letters. `lower` must be in lower
/// case.
bool EqualsLower(std::string_view text, std::string_view lower);

/// Splits a target such as "/a/b?x=y" into path and query. Returns false if it is neither a path,
/// nor an absolute URL, nor "*".
bool SplitTarget(std::string_view target, std::string& path, std::string& query);

/// The length of the shortest rest of a chunked body: "0" and two line ends. Beast asserts that it
/// gets no less than this when the first chunk is the last.
inline constexpr size_t kLastChunk = 5;

/// The value of the Date header, rebuilt once a second. Each io thread has one.
class DateText {
 public:
  std::string_view At(base::WallTime now);

 private:
  int64_t second_ = -1;
  std::string text_;
};

/// Appends the head of an HTTP/1.1 response. `framing` is a header line with its line end, such as
/// "Content-Length: 3\r\n", or empty.
void AppendHead1(std::string& out, const Response& response, std::string_view date,
                 std::string_view framing, bool close);

}  // namespace berth::http
