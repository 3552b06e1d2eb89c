#include "linear/linear_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::linear {
namespace {

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};

std::string Shown(const std::optional<store::Entry>& entry) {
  if (!entry) return "nothing";
  return fmt::format("{}={}@{}", ShortName(entry->key), entry->value, entry->revision.value);
}

std::string Shown(const store::Txn& txn) {
  std::string out;
  for (size_t i = 0; i < txn.compares.size(); ++i) {
    const auto& compare = txn.compares[i];
    out += fmt::format("{}{}@{} ", i == 0 ? "if " : "and ", ShortName(compare.key),
                       compare.revision.value);
  }
  for (const auto& put : txn.puts) out += fmt::format("put {}={} ", ShortName(put.key), put.value);
  for (const auto& key : txn.deletes) out += fmt::format("delete {} ", ShortName(key));
  return out;
}

std::string Shown(const Request& request) {
  return std::visit(
      Overloaded{
          [](const store::Txn& txn) { return Shown(txn); },
          [](const GetRequest& get) { return fmt::format("get {} ", ShortName(get.key)); },
          [](const SnapshotRequest& scan) { return fmt::format("scan {} ", scan.prefix); },
      },
      request);
}

std::string Shown(const store::Txn& txn, const store::TxnReply& reply) {
  std::string out;
  switch (reply.outcome) {
    case store::Outcome::kCommitted:
      out = "committed";
      for (size_t i = 0; i < std::min(reply.puts.size(), txn.puts.size()); ++i) {
        out += fmt::format(" {}@{}", ShortName(txn.puts[i].key), reply.puts[i].value);
      }
      for (size_t i = 0; i < std::min(reply.deletes.size(), txn.deletes.size()); ++i) {
        out += fmt::format(" {} gone@{}", ShortName(txn.deletes[i]), reply.deletes[i].value);
      }
      return out;
    case store::Outcome::kConflict:
      out = "conflict";
      for (const auto& conflict : reply.conflicts) {
        const bool known = conflict.compare < txn.compares.size();
        out += fmt::format(" [{}: {}]", known ? ShortName(txn.compares[conflict.compare].key) : "?",
                           Shown(conflict.current));
      }
      return out;
    case store::Outcome::kRefused:
      return fmt::format("refused: {}", reply.error.message);
    case store::Outcome::kUnknown:
      return fmt::format("unknown: {}", reply.error.message);
  }
  return "?";
}

std::string Shown(const store::ScanPage& page) {
  std::string out = fmt::format("at {}:", page.at.value);
  for (const auto& entry : page.entries) out += fmt::format(" {}", Shown(entry));
  return out;
}

std::string ShownReply(const Operation& operation) {
  return std::visit(
      Overloaded{
          [](const NoReply&) { return std::string("no reply"); },
          [](const ReadFailed& failed) { return fmt::format("failed: {}", failed.error.message); },
          [&](const store::TxnReply& reply) {
            const auto* txn = std::get_if<store::Txn>(&operation.request);
            return Shown(txn != nullptr ? *txn : store::Txn{}, reply);
          },
          [](const std::optional<store::Entry>& entry) { return Shown(entry); },
          [](const store::ScanPage& page) { return Shown(page); },
      },
      operation.reply);
}

}  // namespace

std::string_view ShortName(std::string_view key) { return key.substr(key.rfind('/') + 1); }

bool IsOpen(const Operation& operation) {
  if (!std::holds_alternative<store::Txn>(operation.request)) return false;
  const auto* reply = std::get_if<store::TxnReply>(&operation.reply);
  return reply == nullptr || reply->outcome == store::Outcome::kUnknown;
}

std::string Describe(const Operation& operation, size_t number) {
  const std::string end = operation.returned == kNever ? "" : fmt::format("{}", operation.returned);
  return fmt::format("#{} {}..{} client {}: {}-> {}", number, operation.called, end,
                     operation.client, Shown(operation.request), ShownReply(operation));
}

Counts& Counts::operator+=(const Counts& other) {
  histories += other.histories;
  operations += other.operations;
  committed += other.committed;
  conflicts += other.conflicts;
  refused += other.refused;
  unknown += other.unknown;
  reads += other.reads;
  failed_reads += other.failed_reads;
  longest_search = std::max(longest_search, other.longest_search);
  return *this;
}

Counts Count(const History& history) {
  Counts counts{.histories = 1, .operations = history.operations.size()};
  for (const Operation& operation : history.operations) {
    const auto* reply = std::get_if<store::TxnReply>(&operation.reply);
    if (IsOpen(operation)) {
      ++counts.unknown;
    } else if (reply != nullptr) {
      if (reply->outcome == store::Outcome::kCommitted) ++counts.committed;
      if (reply->outcome == store::Outcome::kConflict) ++counts.conflicts;
      if (reply->outcome == store::Outcome::kRefused) ++counts.refused;
    } else if (std::holds_alternative<ReadFailed>(operation.reply) ||
               std::holds_alternative<NoReply>(operation.reply)) {
      ++counts.failed_reads;
    } else {
      ++counts.reads;
    }
  }
  return counts;
}

std::string Describe(const Counts& counts) {
  return fmt::format(
      "{} histories, {} operations: {} committed, {} conflicts, {} unknown, {} refused, {} reads, "
      "{} failed reads; longest search {} configurations",
      counts.histories, counts.operations, counts.committed, counts.conflicts, counts.unknown,
      counts.refused, counts.reads, counts.failed_reads, counts.longest_search);
}

size_t Recorder::Call(size_t client, Request request) {
  const base::MutexLock lock(mutex_);
  history_.operations.push_back(
      {.client = client, .called = next_stamp_++, .request = std::move(request)});
  return history_.operations.size() - 1;
}

void Recorder::Return(size_t operation, Reply reply) {
  const base::MutexLock lock(mutex_);
  if (taken_) return;
  history_.operations[operation].returned = next_stamp_++;
  history_.operations[operation].reply = std::move(reply);
}

History Recorder::Take() {
  const base::MutexLock lock(mutex_);
  taken_ = true;
  return std::move(history_);
}

}  // namespace berth::linear
