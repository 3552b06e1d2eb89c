// Code that the tests of the contract suite share: the store under test, a fixture with small
// helpers, and a model that knows every state and every event that the store must show. For tests
// only. store/testing/contract_suite.h says how to run the suite on an engine.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "store/blocking.h"
#include "store/engine.h"
#include "store/event_slot.h"

namespace berth::store::contract {

// Some engines write a number into each value (store/event_slot.h). The suite's values begin with
// four bytes for that number, which the suite never compares.

inline constexpr size_t kSlotBytes = 4;

inline std::string MakeValue(std::string_view payload) {
  return std::string(kSlotBytes, '\0').append(payload);
}

inline std::string Payload(std::string_view value) {
  return std::string(value.substr(std::min(value.size(), kSlotBytes)));
}

/// Returns a codec that writes the slot into the first four bytes, big-endian.
inline SlotCodec TestSlotCodec() {
  return SlotCodec{.write =
                       [](std::string_view, std::string& value, int slot) {
                         for (size_t i = 0; i < kSlotBytes && i < value.size(); ++i) {
                           value[i] = static_cast<char>((slot >> (24 - 8 * i)) & 0xff);
                         }
                         return slot;
                       },
                   .read =
                       [](std::string_view, std::string_view value) {
                         if (value.size() < kSlotBytes) return 0;
                         uint32_t slot = 0;
                         for (size_t i = 0; i < kSlotBytes; ++i) {
                           slot = slot << 8 | static_cast<uint8_t>(value[i]);
                         }
                         return static_cast<int>(slot);
                       }};
}

/// How much a store keeps. An engine without one of these limits ignores it.
struct Sizes {
  size_t ring_bytes = size_t{16} << 20;
  size_t history_bytes = size_t{64} << 20;
};

/// The store of one test, and its clock.
class StoreUnderTest {
 public:
  StoreUnderTest() = default;
  virtual ~StoreUnderTest() = default;
  StoreUnderTest(const StoreUnderTest&) = delete;
  StoreUnderTest& operator=(const StoreUnderTest&) = delete;

  /// Opens the store. The first time, it has no keys. Later, after the engine of the previous call
  /// was destroyed, it has what that engine left; only the durable suite opens a store again. Adds
  /// a test failure and returns null if the store cannot be opened.
  virtual std::unique_ptr<Engine> Open(const Sizes& sizes) = 0;

  /// Lets time pass, for keys that expire.
  virtual void Pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  virtual base::SteadyTime Now() { return base::SystemClock().Steady(); }
};

struct EngineUnderTest {
  std::string name;
  /// Makes a new store for each test, without the keys of earlier tests.
  std::function<std::unique_ptr<StoreUnderTest>()> make;
  /// The number of puts, or of deletes, that the engine takes in one transaction. It must be at
  /// least 120, and the engine must take a hundred compares.
  size_t max_txn_items = kMaxPuts;

  friend void PrintTo(const EngineUnderTest& engine, std::ostream* out) { *out << engine.name; }
};

/// A key as the suite compares it.
struct Item {
  std::string key;
  std::string payload;
  int64_t revision = 0;

  bool operator==(const Item&) const = default;
  friend void PrintTo(const Item& item, std::ostream* out) {
    // Long payloads would hide the difference.
    *out << item.key << "@" << item.revision << "=" << item.payload.substr(0, 40);
  }
};

/// An event as the suite compares it.
struct RecordedEvent {
  Event::Type type = Event::Type::kPut;
  Item item;  // Without payload for a delete.
  std::optional<Item> previous;

  bool operator==(const RecordedEvent&) const = default;
  friend void PrintTo(const RecordedEvent& event, std::ostream* out) {
    *out << (event.type == Event::Type::kPut ? "put " : "delete ");
    PrintTo(event.item, out);
    if (event.previous) PrintTo(*event.previous, &(*out << " was "));
  }
};

inline Item ToItem(const Entry& entry) {
  return {.key = entry.key, .payload = Payload(entry.value), .revision = entry.revision.value};
}

inline std::vector<Item> ToItems(const std::vector<Entry>& entries) {
  std::vector<Item> items;
  for (const Entry& entry : entries) items.push_back(ToItem(entry));
  return items;
}

inline std::vector<RecordedEvent> ToRecordedEvents(const std::vector<EventPtr>& events) {
  std::vector<RecordedEvent> recorded;
  for (const EventPtr& event : events) {
    recorded.push_back(
        {.type = event->type,
         .item = {.key = event->key,
                  .payload = Payload(event->value),
                  .revision = event->revision.value},
         .previous = event->previous ? std::optional(ToItem(*event->previous)) : std::nullopt});
  }
  return recorded;
}

/// The state that a store must have and the events that it must have reported, derived from its
/// replies.
class Model {
 public:
  using State = std::map<std::string, Item>;

  /// Adds a committed transaction and checks its revisions. Transactions must be added in the order
  /// of commits.
  void Apply(const Txn& txn, const TxnReply& reply) {
    ASSERT_EQ(reply.puts.size(), txn.puts.size());
    ASSERT_EQ(reply.deletes.size(), txn.deletes.size());
    for (size_t i = 0; i < txn.puts.size(); ++i) {
      Record({.type = Event::Type::kPut,
              .item = {.key = txn.puts[i].key,
                       .payload = Payload(txn.puts[i].value),
                       .revision = reply.puts[i].value},
              .previous = std::nullopt});
    }
    for (size_t i = 0; i < txn.deletes.size(); ++i) {
      const std::string& key = txn.deletes[i];
      ASSERT_EQ(reply.deletes[i].value != 0, state_.contains(key)) << key;
      if (!reply.deletes[i]) continue;
      Record({.type = Event::Type::kDelete,
              .item = {.key = key, .payload = "", .revision = reply.deletes[i].value},
              .previous = std::nullopt});
    }
  }

  /// Adds an event that no reply reported, which is an expiry.
  void Apply(const RecordedEvent& event) { Record(event); }

  const State& Now() const { return state_; }
  const std::vector<RecordedEvent>& Events() const { return events_; }

  std::vector<Item> Items(std::string_view prefix) const { return ItemsAt(prefix, INT64_MAX); }

  std::vector<Item> ItemsAt(std::string_view prefix, int64_t revision) const {
    State state;
    for (const RecordedEvent& event : events_) {
      if (event.item.revision <= revision) Change(state, event);
    }
    std::vector<Item> items;
    for (const auto& [key, item] : state) {
      if (key.starts_with(prefix)) items.push_back(item);
    }
    return items;
  }

  std::vector<RecordedEvent> EventsAfter(std::string_view prefix, int64_t revision) const {
    std::vector<RecordedEvent> events;
    for (const RecordedEvent& event : events_) {
      if (event.item.revision > revision && event.item.key.starts_with(prefix)) {
        events.push_back(event);
      }
    }
    return events;
  }

  int64_t Last() const { return events_.empty() ? 0 : events_.back().item.revision; }

 private:
  static void Change(State& state, const RecordedEvent& event) {
    if (event.type == Event::Type::kDelete) {
      state.erase(event.item.key);
    } else {
      state[event.item.key] = event.item;
    }
  }

  void Record(RecordedEvent event) {
    ASSERT_GT(event.item.revision, Last()) << "revisions rise, each is used once";
    const auto before = state_.find(event.item.key);
    if (before != state_.end()) event.previous = before->second;
    Change(state_, event);
    events_.push_back(std::move(event));
  }

  State state_;
  std::vector<RecordedEvent> events_;
};

class Contract : public testing::TestWithParam<EngineUnderTest> {
 protected:
  static constexpr std::string_view kAll = "/registry/suite/";

  static std::string Key(std::string_view name) { return std::string(kAll).append(name); }
  static std::string Key(std::string_view name, std::integral auto number) {
    return Key(name).append(std::to_string(number));
  }

  static WatchReader::Deadline Soon() {
    return std::chrono::steady_clock::now() + std::chrono::seconds(60);
  }

  void SetUp() override { OpenWith({}); }

  /// Starts over with another store, for a test that needs other sizes.
  void OpenWith(const Sizes& sizes) {
    engine_.reset();
    store_ = GetParam().make();
    sizes_ = sizes;
    Open();
    start_ = Now();
  }

  void Close() { engine_.reset(); }

  void Open() {
    engine_ = store_->Open(sizes_);
    // No test could run without an engine. The store has added the failure.
    if (engine_ == nullptr) std::abort();
  }

  Engine& engine() { return *engine_; }
  StoreUnderTest& store() { return *store_; }

  /// Returns the store's revision when the test opened it. The suite never reads anything older,
  /// because the store may be a part of a larger one that has been compacted.
  Revision Start() const { return start_; }

  Revision Now() {
    const base::Result<Revision> current = CurrentNow(*engine_);
    EXPECT_TRUE(current.has_value()) << current.error().message;
    return current.value_or(Revision{});
  }

  /// Commits a transaction that must succeed, and adds it to the model.
  TxnReply Must(const Txn& txn) {
    TxnReply reply = CommitNow(engine(), txn);
    EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
    if (reply.outcome == Outcome::kCommitted) model_.Apply(txn, reply);
    return reply;
  }

  /// Puts a key and returns its revision. Returns 0 if that failed.
  Revision MustPut(std::string key, std::string_view payload) {
    const TxnReply reply = Must({.puts = {{.key = std::move(key), .value = MakeValue(payload)}}});
    return reply.puts.empty() ? Revision{} : reply.puts[0];
  }

  Revision MustDelete(std::string key) {
    const TxnReply reply = Must({.deletes = {std::move(key)}});
    return reply.deletes.empty() ? Revision{} : reply.deletes[0];
  }

  std::optional<Item> Get(std::string key) {
    const auto entry = GetNow(engine(), std::move(key));
    EXPECT_TRUE(entry.has_value()) << entry.error().message;
    if (!entry || !*entry) return std::nullopt;
    return ToItem(**entry);
  }

  std::vector<Item> Items(std::string_view prefix, Revision at = {}) {
    const auto page = ScanAll(engine(), std::string(prefix), at);
    EXPECT_TRUE(page.has_value()) << page.error().message;
    return page ? ToItems(page->entries) : std::vector<Item>{};
  }

  /// Returns every event of the prefix after `after` up to now, as a new watch reports them.
  std::vector<RecordedEvent> EventsOf(std::string_view prefix, Revision after) {
    WatchReader reader(engine(), {.prefix = std::string(prefix), .after = after});
    return ReadUpToNow(reader);
  }

  std::vector<RecordedEvent> ReadUpToNow(WatchReader& reader) {
    const auto events = reader.UntilProgress(Now(), Soon());
    EXPECT_TRUE(events.has_value()) << events.error().message;
    return events ? ToRecordedEvents(*events) : std::vector<RecordedEvent>{};
  }

  /// Expects that scans and watches of the store show what the model says.
  void ExpectAsModel() {
    EXPECT_EQ(Items(kAll), model_.Items(kAll));
    EXPECT_EQ(EventsOf(kAll, Start()), model_.EventsAfter(kAll, Start().value));
  }

  template <typename T>
  static base::Reason ReasonOf(const base::Result<T>& result) {
    return result ? base::Reason::kUnknown : result.error().reason;
  }

  /// Commits a transaction that must be refused and returns the reason. Returns kUnknown if it was
  /// not refused.
  base::Reason ReasonOfRefusal(Txn txn) {
    const TxnReply reply = CommitNow(engine(), std::move(txn));
    EXPECT_EQ(reply.outcome, Outcome::kRefused);
    if (reply.outcome != Outcome::kRefused) return base::Reason::kUnknown;
    EXPECT_FALSE(reply.error.message.empty());
    return reply.error.reason;
  }

  Model model_;

 private:
  Sizes sizes_;
  std::unique_ptr<StoreUnderTest> store_;
  std::unique_ptr<Engine> engine_;
  Revision start_;
};

}  // namespace berth::store::contract
