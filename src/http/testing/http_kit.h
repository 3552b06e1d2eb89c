// Helpers for tests and fuzz targets only: a protocol without a socket, and with a clock that the
// test sets.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "http/counters.h"
#include "http/head.h"
#include "http/limits.h"
#include "http/mailbox.h"
#include "http/message.h"
#include "http/protocol.h"

namespace berth::http {

/// Stands in for the io thread and the connection of a protocol. The test makes an `Http1` or
/// `Http2` on it: `Http1 http(stage.env, stage, stage.peer)`.
class ProtocolStage final : public ProtocolHost, public MailboxOwner {
 public:
  explicit ProtocolStage(Limits with = {})
      : limits(with), bodies(with.body_memory), answers(with.answer_memory) {
    env.mailbox->Open();
  }
  ~ProtocolStage() override { env.mailbox->Close(); }
  ProtocolStage(const ProtocolStage&) = delete;
  ProtocolStage& operator=(const ProtocolStage&) = delete;

  struct Asked {
    uint32_t stream = 0;
    Request request;
  };

  void OnRequest(uint32_t stream, Request request) override {
    if (handler) {
      handler(stream, std::move(request));
    } else {
      asked.push_back({.stream = stream, .request = std::move(request)});
    }
  }
  void OnOutput() override { ++outputs; }
  void OnFinish(StreamKey, Response) override {}
  void OnStream(StreamKey, Response, std::unique_ptr<Source>) override {}

  /// Returns all output, which it takes in small portions.
  static std::string Drain(Protocol& protocol, size_t room = 4096) {
    std::string out;
    for (;;) {
      const size_t before = out.size();
      protocol.Produce(out, room);
      if (out.size() == before) return out;
    }
  }

  /// Advances the clock and notifies the protocol.
  void Pass(Protocol& protocol, std::chrono::nanoseconds by) {
    clock.Advance(by);
    protocol.OnDeadline(clock.Steady());
  }

  const Limits limits;
  base::ManualClock clock{base::WallTime(std::chrono::seconds(1'700'000'000))};
  std::function<Response(int, std::string_view)> on_error = [this](int code,
                                                                   std::string_view text) {
    errors.push_back(code);
    return Response{.code = code, .body = std::string(text)};
  };
  Counters counters;
  BodyBudget bodies;
  BodyBudget answers;
  DateText date;
  ProtocolEnv env{.limits = limits,
                  .clock = clock,
                  .on_error = on_error,
                  .counters = counters,
                  .bodies = bodies,
                  .answers = answers,
                  .date = date,
                  .mailbox = std::make_shared<Mailbox>(*this, [] {})};
  std::shared_ptr<const Peer> peer = std::make_shared<const Peer>();
  std::function<void(uint32_t, Request)> handler;  // If set, called instead of filling `asked`.
  std::vector<Asked> asked;
  std::vector<int> errors;
  int outputs = 0;
};

/// A source whose output the test sets.
class ScriptSource final : public Source {
 public:
  struct Script {
    std::string text;  // Sent once.
    Pulled then = Pulled::kWait;
    bool drained = false;
    bool gone = false;
    int pulls = 0;
    Signal signal;
    std::optional<base::SteadyTime> wake_at;
  };

  explicit ScriptSource(std::shared_ptr<Script> script) : script_(std::move(script)) {}
  ~ScriptSource() override { script_->gone = true; }
  ScriptSource(const ScriptSource&) = delete;
  ScriptSource& operator=(const ScriptSource&) = delete;

  Pulled Pull(Pieces& out, size_t /*room*/) override {
    ++script_->pulls;
    out.Add(std::exchange(script_->text, ""));
    return script_->drained ? Pulled::kEnd : script_->then;
  }
  Signal* signal() override { return &script_->signal; }
  std::optional<base::SteadyTime> wake_at() override { return script_->wake_at; }
  void OnDrain() override { script_->drained = true; }

 private:
  const std::shared_ptr<Script> script_;
};

}  // namespace berth::http
