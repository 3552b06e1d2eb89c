#include "linear/watch_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace berth::linear {
namespace {

using store::Entry;
using store::Event;
using store::Outcome;
using store::Revision;
using store::Txn;
using store::TxnReply;

std::string Shown(const Event& event) {
  if (event.type == Event::Type::kDelete) {
    return fmt::format("delete of {}@{}", ShortName(event.key), event.revision.value);
  }
  return fmt::format("put of {} = {}@{}", ShortName(event.key), event.value, event.revision.value);
}

class WatchChecker {
 public:
  WatchChecker(const History& history, const WatchRecord& record)
      : history_(history), record_(record) {}

  std::string Run() {
    if (!record_.error.empty()) Fault("it ended: " + record_.error);
    for (size_t i = 0; i < history_.operations.size(); ++i) Expect(i);
    Revision last = record_.after;
    for (const Event& event : record_.events) {
      if (event.revision <= last) {
        Fault(fmt::format("{} comes after revision {}", Shown(event), last.value));
      }
      last = event.revision;
      Match(event);
      Replay(event);
    }
    for (const auto& [revision, expected] : expected_) {
      Fault(fmt::format("it missed the {} ({})", Shown(expected.event), Line(expected.operation)));
    }
    CheckWhole();
    return Text();
  }

 private:
  struct Expected {
    Event event = {};
    size_t operation = 0;
  };

  std::string Line(size_t operation) const {
    return Describe(history_.operations[operation], operation);
  }

  void Fault(std::string what) { faults_.push_back(std::move(what)); }

  std::string Text() const {
    if (faults_.empty()) return "";
    constexpr size_t kShown = 8;
    std::string out =
        fmt::format("watch {} (after {}, up to {}, {} events): {} faults\n", record_.name,
                    record_.after.value, record_.upto.value, record_.events.size(), faults_.size());
    for (size_t i = 0; i < std::min(faults_.size(), kShown); ++i) out += "  " + faults_[i] + "\n";
    return out;
  }

  void Expect(size_t operation) {
    const Operation& op = history_.operations[operation];
    const auto* txn = std::get_if<Txn>(&op.request);
    if (txn == nullptr) return;
    if (IsOpen(op)) {
      for (const auto& put : txn->puts) open_puts_[{put.key, put.value}] = operation;
      for (const auto& key : txn->deletes) ++open_deletes_[key];
    }
    const auto* reply = std::get_if<TxnReply>(&op.reply);
    if (reply == nullptr || reply->outcome != Outcome::kCommitted) return;
    for (size_t i = 0; i < reply->puts.size(); ++i) {
      Expect({.type = Event::Type::kPut,
              .key = txn->puts[i].key,
              .value = txn->puts[i].value,
              .revision = reply->puts[i]},
             operation);
    }
    for (size_t i = 0; i < reply->deletes.size(); ++i) {
      if (!reply->deletes[i]) continue;
      Expect({.type = Event::Type::kDelete, .key = txn->deletes[i], .revision = reply->deletes[i]},
             operation);
    }
  }

  void Expect(Event event, size_t operation) {
    const Revision revision = event.revision;
    if (!expected_.try_emplace(revision, Expected{std::move(event), operation}).second) {
      Fault(
          fmt::format("revision {} was given twice, also to {}", revision.value, Line(operation)));
    }
  }

  /// Finds the operation that an event comes from.
  void Match(const Event& event) {
    const auto expected = expected_.find(event.revision);
    if (expected != expected_.end()) {
      const Event& wanted = expected->second.event;
      if (wanted.type != event.type || wanted.key != event.key || wanted.value != event.value) {
        Fault(fmt::format("it saw a {} instead of a {}", Shown(event), Shown(wanted)));
      }
      expected_.erase(expected);
      return;
    }
    if (event.type == Event::Type::kDelete) {
      if (--open_deletes_[event.key] < 0) {
        Fault(fmt::format("it saw a {} that no operation made", Shown(event)));
      }
      return;
    }
    const auto open = open_puts_.find({event.key, event.value});
    if (open == open_puts_.end()) {
      Fault(fmt::format("it saw a {} that no operation made at that revision", Shown(event)));
      return;
    }
    if (!open_seen_[open->second].emplace(event.key, event.revision).second) {
      Fault(fmt::format("the {} is the second of it: {}", Shown(event), Line(open->second)));
    }
  }

  /// Follows the state, which shows what can be deleted and what the previous entries are.
  void Replay(const Event& event) {
    const auto held = state_.find(event.key);
    const bool exists = held != state_.end();
    if (event.type == Event::Type::kDelete && !exists) {
      Fault(fmt::format("it saw a {}, which did not exist", Shown(event)));
    }
    if (event.previous) {
      const bool right = exists && held->second.value == event.previous->value &&
                         held->second.revision == event.previous->revision;
      if (!right) Fault(fmt::format("the {} comes with a wrong previous entry", Shown(event)));
    } else if (exists) {
      Fault(fmt::format("the {} comes without its previous entry", Shown(event)));
    }
    if (event.type == Event::Type::kDelete) {
      state_.erase(event.key);
    } else {
      state_[event.key] = {.key = event.key, .value = event.value, .revision = event.revision};
    }
  }

  /// Checks that all puts of an open transaction are seen or none, in their order.
  void CheckWhole() {
    for (const auto& [operation, seen] : open_seen_) {
      Revision last;
      for (const auto& put : std::get<Txn>(history_.operations[operation].request).puts) {
        const auto found = seen.find(put.key);
        if (found == seen.end() || found->second <= last) {
          Fault("it saw only a part, or in another order, of " + Line(operation));
          break;
        }
        last = found->second;
      }
    }
  }

  const History& history_;
  const WatchRecord& record_;
  std::vector<std::string> faults_;
  std::map<Revision, Expected> expected_;
  std::map<std::pair<std::string, std::string>, size_t> open_puts_;
  std::map<std::string, int> open_deletes_;
  std::map<size_t, std::map<std::string, Revision>> open_seen_;
  std::map<std::string, Entry> state_;
};

}  // namespace

std::string CheckWatch(const History& history, const WatchRecord& record) {
  return WatchChecker(history, record).Run();
}

}  // namespace berth::linear
