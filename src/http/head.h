// The parts of a response head that both protocols or the client need. Pure, but for DateText.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "http/message.h"

namespace berth::http {

/// "Not Found"; "Status" for a code that has no name.
std::string_view ReasonPhrase(int code);

/// Whether answers with this code have a body at all.
bool MayHaveBody(int code);

/// Fields that are about the connection: the server's business, not the handler's.
bool IsConnectionHeader(std::string_view lower_name);

/// Equal but for the case of letters; `lower` has none in upper case.
bool EqualsLower(std::string_view text, std::string_view lower);

/// "/a/b?x=y" into path and query. False if it is neither that, nor an absolute URL, nor "*".
bool SplitTarget(std::string_view target, std::string& path, std::string& query);

/// The least that a chunked body can go on with: "0", and two line ends. Beast asserts that it is
/// not asked about less when the first chunk is the last.
inline constexpr size_t kLastChunk = 5;

/// The value of the Date header, made anew once a second. One per io thread.
class DateText {
 public:
  std::string_view At(base::WallTime now);

 private:
  int64_t second_ = -1;
  std::string text_;
};

/// Head of an HTTP/1.1 response. `framing` is a header line with its line end, such as
/// "Content-Length: 3\r\n", or empty.
void AppendHead1(std::string& out, const Response& response, std::string_view date,
                 std::string_view framing, bool close);

}  // namespace berth::http
