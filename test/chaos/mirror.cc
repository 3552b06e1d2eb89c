#include "chaos/mirror.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "store/blocking.h"
#include "store/testing/contract_fixture.h"

namespace berth::chaos {
namespace {

using namespace std::chrono_literals;

constexpr size_t kPoll = 500;
constexpr std::chrono::seconds kMirrorPatience{60};

std::vector<store::Revision> CommittedRevisions(const linear::History& history) {
  std::vector<store::Revision> revisions;
  for (const linear::Operation& operation : history.operations) {
    const auto* reply = std::get_if<store::TxnReply>(&operation.reply);
    if (reply == nullptr || reply->outcome != store::Outcome::kCommitted) continue;
    revisions.insert(revisions.end(), reply->puts.begin(), reply->puts.end());
    std::ranges::copy_if(reply->deletes, std::back_inserter(revisions),
                         [](store::Revision revision) { return bool{revision}; });
  }
  return revisions;
}

}  // namespace

Mirror::Mirror(store::Engine& engine, std::string prefix, std::chrono::milliseconds nap,
               uint64_t seed)
    : engine_(engine), prefix_(std::move(prefix)), nap_(nap), random_(seed), thread_([this] {
        Run();
      }) {}

Mirror::~Mirror() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

std::string Mirror::Finish(const linear::History& history, store::Revision upto) {
  target_ = upto.value;
  const auto deadline = std::chrono::steady_clock::now() + kMirrorPatience;
  std::thread alarm([this, deadline] {
    while (!stop_ && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(20ms);
    stop_ = true;
  });
  thread_.join();
  stop_ = true;
  alarm.join();
  if (at_ < upto) faults_ += fmt::format("it reached only {}, not {}\n", at_.value, upto.value);
  for (const store::Revision revision : CommittedRevisions(history)) {
    const bool listed = std::ranges::any_of(gaps_, [revision](const auto& gap) {
      return gap.first < revision && revision <= gap.second;
    });
    if (!listed && !seen_.contains(revision) && revision <= at_) {
      faults_ += fmt::format("it never got revision {}\n", revision.value);
    }
  }
  return faults_;
}

bool Mirror::Done() const {
  const int64_t target = target_;
  return stop_ || (target != 0 && at_.value >= target);
}

void Mirror::Run() {
  while (!Done()) {
    if (listed_ || List()) Follow();
    std::this_thread::sleep_for(10ms);
  }
}

bool Mirror::List() {
  const auto page = store::ScanAll(engine_, prefix_);
  if (!page) return false;
  if (page->at < at_) {
    faults_ += fmt::format("it was at {} and lists {}\n", at_.value, page->at.value);
  }
  gaps_.emplace_back(at_, page->at);
  state_ = ToState(page->entries);
  at_ = page->at;
  listed_ = true;
  return true;
}

void Mirror::Follow() {
  const auto watch = engine_.Follow(at_, [] {});
  while (!Done()) {
    const auto batch = watch->Poll(kPoll);
    if (!batch) {
      listed_ = batch.error().reason != base::Reason::kExpired;
      return;
    }
    for (const store::EventPtr& event : batch->events) {
      if (event->key.starts_with(prefix_)) Take(*event);
    }
    at_ = std::max(at_, batch->progress);
    if (batch->events.empty()) Nap();
  }
}

void Mirror::Take(const store::Event& event) {
  const auto held = state_.find(event.key);
  if (event.revision <= at_) {
    faults_ += fmt::format("an event of {}@{} comes after revision {}\n", event.key,
                           event.revision.value, at_.value);
  }
  if (event.previous) {
    const bool right = held != state_.end() && held->second.revision == event.previous->revision;
    if (!right) {
      faults_ += fmt::format("the event of {}@{} follows on {}, which it does not have\n",
                             event.key, event.revision.value, event.previous->revision.value);
    }
  }
  if (event.type == store::Event::Type::kDelete) {
    state_.erase(event.key);
  } else {
    state_[event.key] = {.key = event.key,
                         .value = store::contract::Payload(event.value),
                         .revision = event.revision};
  }
  at_ = event.revision;
  seen_.insert(event.revision);
}

void Mirror::Nap() {
  if (target_ != 0) {
    engine_.RequestProgress();
    std::this_thread::sleep_for(20ms);
    return;
  }
  const auto most = static_cast<uint64_t>(nap_.count());
  std::this_thread::sleep_for(std::chrono::milliseconds(base::Uniform(random_, most + 1)));
}

}  // namespace berth::chaos
