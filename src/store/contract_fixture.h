// What the tests of the contract suite share: the store they are given, a fixture with small
// helpers, and a model that knows what every state and every event must be. For tests only;
// store/contract_suite.h says how an engine is held to the suite.
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
#include "store/slot.h"

namespace berth::store::contract {

// Some engines note a number in each value (store/slot.h). The suite's values have four bytes in
// front for that, which it never compares.

inline constexpr size_t kSlotBytes = 4;

inline std::string MakeValue(std::string_view payload) {
  return std::string(kSlotBytes, '\0').append(payload);
}

inline std::string Payload(std::string_view value) {
  return std::string(value.substr(std::min(value.size(), kSlotBytes)));
}

/// Writes the slot into the first four bytes, the highest one first.
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

/// How much a store is to keep; an engine without one of them leaves it out.
struct Sizes {
  size_t ring_bytes = size_t{16} << 20;
  size_t history_bytes = size_t{64} << 20;
};

/// The store of one test, and the time it lives in.
class StoreUnderTest {
 public:
  StoreUnderTest() = default;
  virtual ~StoreUnderTest() = default;
  StoreUnderTest(const StoreUnderTest&) = delete;
  StoreUnderTest& operator=(const StoreUnderTest&) = delete;

  /// Opens it: with no keys the first time; later, when what it opened before is gone, with what
  /// that left (asked for only by the durable suite). Null, with a failure added, if it cannot.
  virtual std::unique_ptr<Engine> Open(const Sizes& sizes) = 0;

  /// Lets time pass, for keys that expire.
  virtual void Pass(std::chrono::milliseconds time) { std::this_thread::sleep_for(time); }
  virtual base::SteadyTime Now() { return base::SystemClock().Steady(); }
};

struct EngineUnderTest {
  std::string name;
  /// A new store for each test, with nothing of the tests before in it.
  std::function<std::unique_ptr<StoreUnderTest>()> make;
  /// How many puts, or deletes, it takes in one transaction. At least 120, and a hundred compares.
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
    // Long payloads would hide what differs.
    *out << item.key << "@" << item.revision << "=" << item.payload.substr(0, 40);
  }
};

/// An event as the suite compares it.
struct Told {
  Event::Type type = Event::Type::kPut;
  Item item;  // No payload for a delete.
  std::optional<Item> previous;

  bool operator==(const Told&) const = default;
  friend void PrintTo(const Told& told, std::ostream* out) {
    *out << (told.type == Event::Type::kPut ? "put " : "delete ");
    PrintTo(told.item, out);
    if (told.previous) PrintTo(*told.previous, &(*out << " was "));
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

inline std::vector<Told> ToTold(const std::vector<EventPtr>& events) {
  std::vector<Told> told;
  for (const EventPtr& event : events) {
    told.push_back(
        {.type = event->type,
         .item = {.key = event->key,
                  .payload = Payload(event->value),
                  .revision = event->revision.value},
         .previous = event->previous ? std::optional(ToItem(*event->previous)) : std::nullopt});
  }
  return told;
}

/// What a store must hold and must have told, given what it replied.
class Model {
 public:
  using State = std::map<std::string, Item>;

  /// Takes a transaction that was committed, in the order of commits, and checks its revisions.
  void Apply(const Txn& txn, const TxnReply& reply) {
    ASSERT_EQ(reply.puts.size(), txn.puts.size());
    ASSERT_EQ(reply.deletes.size(), txn.deletes.size());
    for (size_t i = 0; i < txn.puts.size(); ++i) {
      Tell({.type = Event::Type::kPut,
            .item = {.key = txn.puts[i].key,
                     .payload = Payload(txn.puts[i].value),
                     .revision = reply.puts[i].value},
            .previous = std::nullopt});
    }
    for (size_t i = 0; i < txn.deletes.size(); ++i) {
      const std::string& key = txn.deletes[i];
      ASSERT_EQ(reply.deletes[i].value != 0, state_.contains(key)) << key;
      if (!reply.deletes[i]) continue;
      Tell({.type = Event::Type::kDelete,
            .item = {.key = key, .payload = "", .revision = reply.deletes[i].value},
            .previous = std::nullopt});
    }
  }

  /// An event that no reply told of: an expiry.
  void Apply(const Told& told) { Tell(told); }

  const State& Now() const { return state_; }
  const std::vector<Told>& Events() const { return events_; }

  std::vector<Item> Items(std::string_view prefix) const { return ItemsAt(prefix, INT64_MAX); }

  std::vector<Item> ItemsAt(std::string_view prefix, int64_t revision) const {
    State state;
    for (const Told& told : events_) {
      if (told.item.revision <= revision) Change(state, told);
    }
    std::vector<Item> items;
    for (const auto& [key, item] : state) {
      if (key.starts_with(prefix)) items.push_back(item);
    }
    return items;
  }

  std::vector<Told> EventsAfter(std::string_view prefix, int64_t revision) const {
    std::vector<Told> events;
    for (const Told& told : events_) {
      if (told.item.revision > revision && told.item.key.starts_with(prefix)) {
        events.push_back(told);
      }
    }
    return events;
  }

  int64_t Last() const { return events_.empty() ? 0 : events_.back().item.revision; }

 private:
  static void Change(State& state, const Told& told) {
    if (told.type == Event::Type::kDelete) {
      state.erase(told.item.key);
    } else {
      state[told.item.key] = told.item;
    }
  }

  void Tell(Told told) {
    ASSERT_GT(told.item.revision, Last()) << "revisions rise, each is used once";
    const auto before = state_.find(told.item.key);
    if (before != state_.end()) told.previous = before->second;
    Change(state_, told);
    events_.push_back(std::move(told));
  }

  State state_;
  std::vector<Told> events_;
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

  /// Begins again with another store, for a test that needs other sizes.
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
    // Nothing could run without it; the store has said why.
    if (engine_ == nullptr) std::abort();
  }

  Engine& engine() { return *engine_; }
  StoreUnderTest& store() { return *store_; }

  /// What the store was at when the test opened it. The suite never looks before that: the store
  /// may be a part of a larger one that has seen compactions.
  Revision Start() const { return start_; }

  Revision Now() {
    const base::Result<Revision> current = CurrentNow(*engine_);
    EXPECT_TRUE(current.has_value()) << current.error().message;
    return current.value_or(Revision{});
  }

  /// A commit that must succeed; the model learns of it.
  TxnReply Must(const Txn& txn) {
    TxnReply reply = CommitNow(engine(), txn);
    EXPECT_EQ(reply.outcome, Outcome::kCommitted) << reply.error.message;
    if (reply.outcome == Outcome::kCommitted) model_.Apply(txn, reply);
    return reply;
  }

  /// 0 when it failed.
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

  /// Every event of the prefix after `after` up to now, as a new watch tells them.
  std::vector<Told> EventsOf(std::string_view prefix, Revision after) {
    WatchReader reader(engine(), {.prefix = std::string(prefix), .after = after});
    return ReadUpToNow(reader);
  }

  std::vector<Told> ReadUpToNow(WatchReader& reader) {
    const auto events = reader.UntilProgress(Now(), Soon());
    EXPECT_TRUE(events.has_value()) << events.error().message;
    return events ? ToTold(*events) : std::vector<Told>{};
  }

  /// The store shows what the model says, to readers and to watches.
  void ExpectAsModel() {
    EXPECT_EQ(Items(kAll), model_.Items(kAll));
    EXPECT_EQ(EventsOf(kAll, Start()), model_.EventsAfter(kAll, Start().value));
  }

  template <typename T>
  static base::Reason ReasonOf(const base::Result<T>& result) {
    return result ? base::Reason::kUnknown : result.error().reason;
  }

  /// Of a transaction that must be refused; kUnknown when it was not.
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
