// Sends answers over HTTP/2 and enforces time limits. Requests are in http2.cc.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "http/head.h"
#include "http/http2.h"

namespace berth::http {
// --- answers -------------------------------------------------------------------------------------

void Http2::Refuse(Exchange& exchange, int code, std::string_view text) {
  env_.counters.requests_bad.Add();
  if (exchange.phase == Exchange::Phase::kBody) --reading_;
  ReleaseBody(exchange);
  exchange.request.reset();
  exchange.phase = Exchange::Phase::kHandling;
  Finish(static_cast<uint32_t>(exchange.id), env_.on_error(code, text));
}

void Http2::Finish(uint32_t stream, Response response) {
  Exchange* exchange = Find(static_cast<int32_t>(stream));
  if (exchange == nullptr || exchange->phase != Exchange::Phase::kHandling) return;
  const size_t held = HoldAnswer(env_, response);
  const size_t length = response.body.bytes();
  Pieces body = std::move(response.body);
  if (exchange->head_only || !MayHaveBody(response.code)) body.Clear();
  exchange->flow = std::make_unique<Outflow>(std::move(body), &env_.answers, held);
  ++answering_;
  Submit(*exchange, response,
         MayHaveBody(response.code) ? std::optional<size_t>(length) : std::nullopt);
}

void Http2::Stream(uint32_t stream, Response head, std::unique_ptr<Source> source) {
  Exchange* exchange = Find(static_cast<int32_t>(stream));
  if (exchange == nullptr || exchange->phase != Exchange::Phase::kHandling) return;
  if (exchange->head_only || !MayHaveBody(head.code)) {
    exchange->flow = std::make_unique<Outflow>(Pieces());
    ++answering_;
  } else {
    exchange->flow =
        std::make_unique<Outflow>(std::move(source), env_.mailbox, *this, exchange->id);
    if (draining_) exchange->flow->Drain();
    env_.counters.streams.Add();
    env_.counters.streams_now.Add();
  }
  Submit(*exchange, head, std::nullopt);
}

ssize_t Http2::Read(Exchange& exchange, size_t room, uint32_t& flags) {
  Outflow& flow = *exchange.flow;
  switch (flow.Fill(room)) {
    case Outflow::State::kWaiting:
      if (const auto wake = flow.wake_at(); wake && (!next_wake_ || *wake < *next_wake_)) {
        next_wake_ = wake;
      }
      return NGHTTP2_ERR_DEFERRED;
    case Outflow::State::kAbort:
      return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    case Outflow::State::kEnd:
      flags |= NGHTTP2_DATA_FLAG_EOF;
      return 0;
    case Outflow::State::kBytes:
      break;
  }
  const size_t part = std::min(room, flow.pieces().bytes());
  flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (part == flow.pieces().bytes() && flow.last()) flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(part);
}

int Http2::Send(Exchange& exchange, std::string_view frame_head, size_t length) {
  if (out_->size() >= out_limit_) return NGHTTP2_ERR_WOULDBLOCK;
  out_->append(frame_head);
  exchange.flow->pieces().MoveTo(*out_, length);
  exchange.progress = env_.clock.Steady();
  return 0;
}

void Http2::Produce(std::string& out, size_t room) {
  out_ = &out;
  out_limit_ = out.size() + room;
  while (out.size() < out_limit_) {
    const uint8_t* bytes = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &bytes);
    if (size < 0) dead_ = true;
    if (size <= 0) break;
    out.append(TextView(bytes, static_cast<size_t>(size)));
  }
  out_ = nullptr;
}

void Http2::OnSent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_RST_STREAM) {
    // A stream that fails through the client's fault costs as much as one that the client resets.
    if (frame.rst_stream.error_code != NGHTTP2_NO_ERROR && !guard_.OnReset(env_.clock.Steady())) {
      Abuse();
    }
    return;
  }
  const bool body = frame.hd.type == NGHTTP2_DATA || frame.hd.type == NGHTTP2_HEADERS;
  if (!body || (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  Exchange* exchange = Find(frame.hd.stream_id);
  if (exchange == nullptr || exchange->request_ended) return;
  // The stream is not reset at once, since some clients take that for a failure and never read the
  // answer.
  exchange->phase = Exchange::Phase::kLingering;
  exchange->progress = env_.clock.Steady();
  exchange->span_bytes = 0;
}

void Http2::EndLingering(Exchange& exchange) {
  exchange.phase = Exchange::Phase::kAnswering;
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, exchange.id, NGHTTP2_NO_ERROR);
  host_.OnOutput();
}

bool Http2::Done() const {
  return dead_ ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

void Http2::Drain() {
  if (draining_) return;
  draining_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  for (auto& [id, exchange] : exchanges_) {
    if (exchange->flow == nullptr || !exchange->flow->is_stream()) continue;
    exchange->flow->Drain();
    nghttp2_session_resume_data(session_, id);
  }
  host_.OnOutput();
}

void Http2::OnWoken(int32_t stream) {
  if (exchanges_.size() > 1) {
    Resume(stream);  // Its output is sent together with that of other streams.
    return;
  }
  nghttp2_session_resume_data(session_, stream);
  host_.OnWoken();
}

void Http2::Resume(int32_t id) {
  // This fails if the stream is not deferred, but then nghttp2 reads it anyway.
  nghttp2_session_resume_data(session_, id);
  host_.OnOutput();
}

void Http2::Terminate(uint32_t reason) {
  if (terminating_) return;
  terminating_ = true;
  nghttp2_session_terminate_session(session_, reason);
  host_.OnOutput();
}

int Http2::Abuse() {
  if (!terminating_) env_.counters.h2_abuses.Add();
  Terminate(NGHTTP2_ENHANCE_YOUR_CALM);
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

// --- time ----------------------------------------------------------------------------------------

std::chrono::nanoseconds Http2::SweepPeriod() const {
  const Limits& limits = env_.limits;
  if (reading_ > 0 || answering_ > 0) return std::min(limits.body_span, limits.write_stall) / 2;
  return limits.stream_stall / 2;
}

std::optional<base::SteadyTime> Http2::Deadline() const {
  if (terminating_) return std::nullopt;  // The connection's own limits apply.
  base::SteadyTime deadline =
      exchanges_.empty() ? idle_since_ + env_.limits.idle : swept_ + SweepPeriod();
  if (!greeted_ || in_headers_) {
    deadline = std::min(deadline, headers_since_ + env_.limits.header_read);
  }
  if (next_wake_) deadline = std::min(deadline, *next_wake_);
  return deadline;
}

void Http2::OnDeadline(base::SteadyTime now) {
  if (terminating_) return;
  if ((!greeted_ || in_headers_) && now >= headers_since_ + env_.limits.header_read) {
    env_.counters.timeouts.Add();
    Terminate(NGHTTP2_PROTOCOL_ERROR);
    return;
  }
  // This comes first, because the stream that set the time may no longer exist, and a time in the
  // past must not stay.
  if (next_wake_ && now >= *next_wake_) WakeDue(now);
  if (exchanges_.empty()) {
    if (now >= idle_since_ + env_.limits.idle) Terminate(NGHTTP2_NO_ERROR);
    return;
  }
  if (now >= swept_ + SweepPeriod()) Sweep(now);
}

void Http2::WakeDue(base::SteadyTime now) {
  next_wake_.reset();
  for (auto& [id, exchange] : exchanges_) {
    if (exchange->flow == nullptr) continue;
    const auto wake = exchange->flow->wake_at();
    if (!wake) continue;
    if (*wake <= now) {
      exchange->flow->StopWaiting();
      Resume(id);
    } else if (!next_wake_ || *wake < *next_wake_) {
      next_wake_ = wake;
    }
  }
}

/// Ends streams whose body arrives too slowly or whose client does not take the answer.
void Http2::Sweep(base::SteadyTime now) {
  const Limits& limits = env_.limits;
  swept_ = now;
  std::vector<int32_t> slow;
  for (auto& [id, exchange] : exchanges_) {
    if (exchange->phase == Exchange::Phase::kBody && now - exchange->progress >= limits.body_span) {
      if (exchange->span_bytes < limits.body_span_bytes) slow.push_back(id);
      exchange->progress = now;
      exchange->span_bytes = 0;
    } else if (exchange->phase == Exchange::Phase::kLingering) {
      if (now - exchange->progress >= limits.linger) EndLingering(*exchange);
    } else if (exchange->phase == Exchange::Phase::kAnswering && !exchange->flow->waiting()) {
      const auto limit = exchange->flow->is_stream() ? limits.stream_stall : limits.write_stall;
      if (now - exchange->progress >= limit) slow.push_back(id);
    }
  }
  for (const int32_t id : slow) {
    env_.counters.timeouts.Add();
    Exchange* exchange = Find(id);
    if (exchange->phase == Exchange::Phase::kBody) {
      Refuse(*exchange, 408, "the request body arrives too slowly");
    } else {
      nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL);
      exchange->progress = now;
    }
  }
  if (!slow.empty()) host_.OnOutput();
}

std::chrono::nanoseconds Http2::StallLimit() const {
  return answering_ > 0 || exchanges_.empty() ? env_.limits.write_stall : env_.limits.stream_stall;
}

}  // namespace berth::http
