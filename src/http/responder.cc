#include "http/responder.h"

#include <string>

#include "http/gzip.h"

namespace berth::http {

void Responder::Finish(Response response) const {
  if (sink_ == nullptr) return;
  if (response.compress && accepts_gzip_ && response.body.bytes() > kGzipAbove) {
    response.body = Pieces(Gzip(response.body.Flatten()));
    response.headers.Add("content-encoding", "gzip");
    response.headers.Add("vary", "Accept-Encoding");
  }
  sink_->Finish(key_, std::move(response));
}

void Responder::Stream(int code, Headers headers, std::unique_ptr<Source> source) const {
  if (sink_ == nullptr) return;
  sink_->Stream(key_, Response{.code = code, .headers = std::move(headers)}, std::move(source));
}

}  // namespace berth::http
