// For tests only: the whole API server on a store in memory, without sockets. A request is a line
// such as "GET /api/v1/namespaces?limit=2". Nothing happens by itself, and the clock stands still
// until it is moved.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "allocation/testing/registry_stack.h"
#include "base/mutex.h"
#include "codec/json.h"
#include "codec/read.h"
#include "codec/timestamp.h"
#include "server/api_server.h"
#include "server/signals.h"
#include "state/testing/test_store.h"

namespace berth::server::testing {

/// The time when a test begins.
inline constexpr const char* kStart = "2026-11-15T04:35:00Z";
inline constexpr const char* kTable = "application/json;as=Table;v=v1;g=meta.k8s.io";
inline constexpr const char* kPartial =
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
inline constexpr const char* kPartialList =
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

/// ' stands for ".
inline std::string Quoted(std::string text) {
  for (char& c : text) {
    if (c == '\'') c = '"';
  }
  return text;
}

inline codec::Value ParseJson(const std::string& text) {
  auto value = codec::ParseJson(text);
  EXPECT_TRUE(value) << text;
  return value.value_or(codec::Value());
}

struct Reply {
  int code = 0;  // 0 until there is an answer.
  http::Headers headers = {};
  std::string body = {};
  std::shared_ptr<http::Source> source = {};  // If the answer is a stream.

  codec::Value Json() const { return ParseJson(body); }
  std::string Text(std::string_view field) const {
    return std::string(codec::StringAt(Json(), field));
  }
  std::string Message() const { return Text("message"); }
  std::string Header(std::string_view name) const {
    return std::string(headers.Find(name).value_or(""));
  }
  std::vector<std::string> Warnings() const {
    std::vector<std::string> texts;
    for (const std::string_view each : headers.FindAll("warning")) texts.emplace_back(each);
    return texts;
  }
  std::string Version() const {
    return std::string(codec::StringAt(Json(), "metadata", "resourceVersion"));
  }
  /// Returns the names of a list's items, or of the objects in a Table's rows.
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    const codec::Value list = Json();
    for (const codec::Value& item : codec::ArrayAt(list, "items")) {
      names.emplace_back(codec::StringAt(item, "metadata", "name"));
    }
    for (const codec::Value& row : codec::ArrayAt(list, "rows")) {
      names.emplace_back(codec::StringAt(row, "object", "metadata", "name"));
    }
    return names;
  }
};

/// Receives the answers.
class Sink final : public http::AnswerSink {
 public:
  void Finish(http::StreamKey key, http::Response response) override {
    base::MutexLock lock(mutex_);
    EXPECT_EQ(replies_.count(key.stream), 0U) << "answered twice";
    replies_[key.stream] = {.code = response.code,
                            .headers = std::move(response.headers),
                            .body = response.body.Flatten()};
  }
  void Stream(http::StreamKey key, http::Response head,
              std::unique_ptr<http::Source> source) override {
    base::MutexLock lock(mutex_);
    EXPECT_EQ(replies_.count(key.stream), 0U) << "answered twice";
    replies_[key.stream] = {
        .code = head.code, .headers = std::move(head.headers), .source = std::move(source)};
  }
  Reply Find(uint32_t stream) {
    base::MutexLock lock(mutex_);
    const auto found = replies_.find(stream);
    return found == replies_.end() ? Reply() : found->second;
  }
  void Clear() {
    base::MutexLock lock(mutex_);
    replies_.clear();
  }

 private:
  base::Mutex mutex_;
  std::map<uint32_t, Reply> replies_ GUARDED_BY(mutex_);
};

struct With {
  std::string accept = {};
  std::string content_type = {};
  std::string token = "admin";
  std::string agent = {};
};

class ServerTest : public ::testing::Test {
 protected:
  struct Options {
    watch::HubOptions hub = {};
    ApiOptions api = {};
    obs::AuditLog* audit = nullptr;
    std::function<store::Fault(const store::Txn&)> fault = {};
  };

  ServerTest() { store_.clock.Advance(codec::ParseTime(kStart)->time_since_epoch()); }
  void SetUp() override { Open({}); }
  ~ServerTest() override { sink_->Clear(); }

  /// Starts a server on an empty store with a namespace "shop".
  void Open(Options options) {
    sink_->Clear();
    parts_.reset();
    store_.Open({.fault = options.fault});
    allocation::testing::TestAddresses::PutRanges(store_, registry::Kinds());
    Restart(std::move(options));
    Post("/api/v1/namespaces", "{'metadata':{'name':'shop'}}");
  }
  /// Starts a new server on the same store.
  void Restart(Options options) {
    sink_->Clear();
    parts_.reset();
    parts_ = std::make_unique<Running>(store_, std::move(options));
    PumpAll();
  }
  void PumpAll() {
    while (parts_->follower.Pump()) {
    }
  }
  void Advance(std::chrono::nanoseconds time) {
    store_.clock.Advance(time);
    PumpAll();
  }

  /// Sends a request without waiting. Answer returns its reply.
  uint32_t Send(const std::string& line, std::string body = {}, const With& with = {}) {
    const size_t space = line.find(' ');
    const size_t question = std::min(line.find('?'), line.size());
    http::Request request{.method = line.substr(0, space),
                          .path = line.substr(space + 1, question - space - 1),
                          .query = line.substr(std::min(question + 1, line.size())),
                          .body = std::move(body),
                          .peer = peer_};
    request.body.reserve(request.body.size() + 64);
    if (!with.token.empty()) request.headers.Add("authorization", "Bearer " + with.token);
    if (!with.accept.empty()) request.headers.Add("accept", with.accept);
    if (!with.content_type.empty()) request.headers.Add("content-type", with.content_type);
    if (!with.agent.empty()) request.headers.Add("user-agent", with.agent);
    const uint32_t stream = ++streams_;
    parts_->api.Handle(std::move(request), http::Responder(sink_, {.stream = stream}, false));
    return stream;
  }
  Reply Answer(uint32_t stream) {
    PumpAll();
    return sink_->Find(stream);
  }

  Reply Call(const std::string& line, std::string body = {}, const With& with = {}) {
    const uint32_t stream = Send(line, std::move(body), with);
    Reply reply = Answer(stream);
    for (int i = 0; reply.code == 0 && i < 5000; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // A worker has it.
      reply = Answer(stream);
    }
    EXPECT_NE(reply.code, 0) << "no answer: " << line;
    return reply;
  }
  Reply Get(const std::string& url, const With& with = {}) { return Call("GET " + url, {}, with); }
  Reply Post(const std::string& url, const std::string& body, const With& with = {}) {
    return Call("POST " + url, Quoted(body), with);
  }
  Reply Put(const std::string& url, const std::string& body, const With& with = {}) {
    return Call("PUT " + url, Quoted(body), with);
  }
  Reply Delete(const std::string& url, const std::string& body = {}, const With& with = {}) {
    return Call("DELETE " + url, Quoted(body), with);
  }

  static std::string Services(const std::string& name_space = "shop") {
    return "/api/v1/namespaces/" + name_space + "/services";
  }
  /// `labels` are members of JSON: "'app':'web'".
  static std::string ServiceBody(const std::string& name, const std::string& labels = {}) {
    return "{'metadata':{'name':'" + name + "'" +
           (labels.empty() ? "" : ",'labels':{" + labels + "}") +
           "},'spec':{'ports':[{'port':80}]}}";
  }
  /// Creates or changes a Service. Returns its resourceVersion.
  std::string PutService(const std::string& name, const std::string& labels = {}) {
    const Reply reply = Put(Services() + "/" + name, ServiceBody(name, labels));
    EXPECT_TRUE(reply.code == 200 || reply.code == 201) << reply.body;
    return reply.Version();
  }
  std::string Now() const { return std::to_string(parts_->follower.Current()->Revision()); }

  /// The parts of a server, in the order of their dependencies.
  struct Running {
    Running(state::testing::TestStore& store, Options options)
        : resources(kinds.MakeResources()),
          past(*store.engine, resources),
          hub(past, resources, options.hub),
          addresses(kinds),
          follower(*store.engine, resources, {&addresses.ledger, &hub}, {}, store.clock, store.log),
          workers(1, 16),
          sequencer({*store.engine, follower, resources, store.clock, follower}, {}),
          registry_with_hooks(kinds, resources, sequencer, addresses.ledger, store.clock),
          registry(registry_with_hooks.registry),
          authenticator(Users()),
          api({.registry = registry,
               .follower = follower,
               .past = past,
               .hub = hub,
               .signals = signals,
               .workers = workers,
               .metrics = metrics,
               .clock = store.clock,
               .log = store.log},
              std::move(options.api), authenticator, health, options.audit, base::SeededRandom(2)) {
    }

    static TokenTable Users() {
      TokenTable users;
      AddToken(users, "admin", {.name = "admin", .groups = {kMastersGroup}});
      AddToken(users, "other", {.name = "other", .groups = {kMastersGroup}});
      AddToken(users, "guest", {.name = "guest"});
      return users;
    }

    const registry::Kinds kinds;
    const state::Resources resources;
    const state::Past past;
    watch::Hub hub;
    allocation::testing::TestAddresses addresses;
    state::Follower follower;
    Workers workers;
    commit::Sequencer sequencer;
    allocation::testing::TestRegistry registry_with_hooks;
    registry::Registry& registry;
    Signals signals;
    Authenticator authenticator;
    Health health;
    obs::Metrics metrics;
    ApiServer api;
  };

  state::testing::TestStore store_;
  std::unique_ptr<Running> parts_;
  const std::shared_ptr<Sink> sink_ = std::make_shared<Sink>();
  const std::shared_ptr<const http::Peer> peer_ =
      std::make_shared<http::Peer>(http::Peer{.address = "127.0.0.1:50312", .tls = true});
  uint32_t streams_ = 0;
};

/// A watch as its client sees it.
class Stream {
 public:
  explicit Stream(const Reply& reply) : source_(reply.source) {
    EXPECT_NE(source_, nullptr) << reply.body;
  }

  /// Returns the events since the last call. `room` is how many bytes the client reads at once.
  std::vector<codec::Value> Events(size_t room = 65'536) {
    std::vector<codec::Value> events;
    std::string text;
    while (source_ != nullptr && !ended_) {
      http::Pieces pieces;
      const http::Pulled pulled = source_->Pull(pieces, room);
      text += pieces.Flatten();
      ended_ = pulled == http::Pulled::kEnd || pulled == http::Pulled::kAbort;
      if (pulled == http::Pulled::kWait) break;
    }
    for (size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      events.push_back(ParseJson(text.substr(0, end)));
      text.erase(0, end + 1);
    }
    EXPECT_EQ(text, "") << "every event has a line of its own";
    return events;
  }

  /// Returns the events as short texts: "ADDED a@3", "BOOKMARK @7", "ERROR 410".
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const codec::Value& event : Events()) {
      const std::string type(codec::StringAt(event, "type"));
      const codec::Value* object = codec::FindAt(event, "object");
      std::string text = type == "ERROR"
                             ? std::to_string(codec::IntAt(*object, "code"))
                             : std::string(codec::StringAt(*object, "metadata", "name"));
      const auto version = codec::StringAt(*object, "metadata", "resourceVersion");
      if (!version.empty()) text.append("@").append(version);
      lines.push_back(fmt::format("{} {}", type, text));
    }
    return lines;
  }

  bool Ended() const { return ended_; }
  http::Source& Source() { return *source_; }

 private:
  const std::shared_ptr<http::Source> source_;
  bool ended_ = false;
};

}  // namespace berth::server::testing
