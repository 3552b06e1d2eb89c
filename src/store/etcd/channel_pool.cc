#include "store/etcd/channel_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace berth::store::etcd::wire {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kCheckInterval{2000};  // Between checks of a healthy endpoint.
constexpr milliseconds kFirstPause{50};       // Between checks of an unhealthy one; it doubles...
constexpr milliseconds kLongestPause{1000};   // ...up to this.
constexpr milliseconds kWellAgain{5000};      // Good health for this long clears earlier failures.
constexpr milliseconds kFirstRound{500};      // How long Connect waits for the other endpoints.

milliseconds Pause(int failures) {
  const int doublings = std::min(failures - 1, 10);
  return std::min(kFirstPause * (1 << doublings), kLongestPause);
}

}  // namespace

Endpoint::Endpoint(EndpointUrl url, const std::shared_ptr<grpc::ChannelCredentials>& credentials,
                   const ChannelSettings& settings, int lines)
    : url_(std::move(url)),
      watch_channel_(MakeChannel(url_, credentials, settings)),
      watch_(watch_channel_) {
  for (int i = 0; i < std::max(lines, 1); ++i) {
    lines_.push_back(std::make_unique<Line>(MakeChannel(url_, credentials, settings)));
  }
}

void Endpoint::Reconnect() {
  for (const auto& line : lines_) {
    grpc::experimental::ChannelResetConnectionBackoff(line->channel.get());
  }
  grpc::experimental::ChannelResetConnectionBackoff(watch_channel_.get());
}

Pool::Pool(std::vector<std::unique_ptr<Endpoint>> endpoints, base::Logger& log) : log_(log) {
  base::MutexLock lock(mutex_);
  entries_.reserve(endpoints.size());
  for (auto& endpoint : endpoints) {
    entries_.emplace_back();
    entries_.back().endpoint = std::move(endpoint);
  }
}

Pool::Entry& Pool::EntryOf(const Endpoint& endpoint) {
  return *std::find_if(entries_.begin(), entries_.end(),
                       [&](const Entry& entry) { return entry.endpoint.get() == &endpoint; });
}

const Pool::Entry& Pool::EntryOf(const Endpoint& endpoint) const {
  return const_cast<Pool*>(this)->EntryOf(endpoint);
}

Endpoint* Pool::PickLocked() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    const size_t at = (preferred_ + i) % entries_.size();
    if (entries_[at].health != Health::kWell) continue;
    preferred_ = at;
    return entries_[at].endpoint.get();
  }
  return nullptr;
}

Endpoint* Pool::Pick() {
  base::MutexLock lock(mutex_);
  return PickLocked();
}

Endpoint* Pool::AwaitPick(TimePoint deadline, const std::atomic<bool>& stop) {
  base::MutexLock lock(mutex_);
  for (;;) {
    if (stop.load()) return nullptr;
    if (Endpoint* found = PickLocked()) return found;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) return nullptr;
    changed_.WaitFor(mutex_, left);
  }
}

void Pool::Wake() {
  base::MutexLock lock(mutex_);
  changed_.NotifyAll();
}

bool Pool::HasOther(const Endpoint& endpoint) const {
  base::MutexLock lock(mutex_);
  return std::any_of(entries_.begin(), entries_.end(), [&](const Entry& entry) {
    return entry.health == Health::kWell && entry.endpoint.get() != &endpoint;
  });
}

void Pool::PutAside(Endpoint& endpoint, const std::string& why) {
  base::MutexLock lock(mutex_);
  Entry& entry = EntryOf(endpoint);
  // If a hundred calls fail together, only the first counts.
  if (entry.health == Health::kWell) SetAside(entry, why, std::chrono::steady_clock::now());
}

void Pool::SetAside(Entry& entry, const std::string& why, TimePoint now) {
  if (entry.health == Health::kWell && now - entry.well_since >= kWellAgain) entry.failures = 0;
  if (entry.health == Health::kWell || entry.why != why) {
    log_.Warn("etcd endpoint put aside", {{"endpoint", entry.endpoint->Url().text}, {"why", why}});
  }
  ++entry.failures;
  entry.health = Health::kAside;
  entry.why = why;
  entry.next_check = now + Pause(entry.failures);
  changed_.NotifyAll();
}

void Pool::SetWell(Entry& entry, TimePoint now) {
  if (entry.health == Health::kAside) {
    log_.Info("etcd endpoint is back", {{"endpoint", entry.endpoint->Url().text}});
  }
  if (entry.health != Health::kWell) {
    entry.health = Health::kWell;
    entry.well_since = now;
    entry.why.clear();
  }
  entry.next_check = now + kCheckInterval;
  changed_.NotifyAll();
}

std::string Pool::StrangerWhy(const etcdserverpb::ResponseHeader& header) const {
  return fmt::format("it belongs to another etcd cluster ({:x}) than {} ({:x})",
                     header.cluster_id(), cluster_from_, cluster_.load());
}

std::string Pool::Expel(Endpoint& endpoint, const etcdserverpb::ResponseHeader& header) {
  base::MutexLock lock(mutex_);
  Entry& entry = EntryOf(endpoint);
  std::string why = StrangerWhy(header);
  entry.stranger = true;
  SetAside(entry, why, std::chrono::steady_clock::now());
  return why;
}

std::vector<Endpoint*> Pool::TakeDue(TimePoint now) {
  base::MutexLock lock(mutex_);
  std::vector<Endpoint*> due;
  for (Entry& entry : entries_) {
    if (entry.checking || entry.next_check > now) continue;
    entry.checking = true;
    due.push_back(entry.endpoint.get());
  }
  return due;
}

TimePoint Pool::NextDue() const {
  base::MutexLock lock(mutex_);
  TimePoint next = TimePoint::max();
  for (const Entry& entry : entries_) {
    if (!entry.checking) next = std::min(next, entry.next_check);
  }
  return next;
}

bool Pool::IsWell(const Endpoint& endpoint) const {
  base::MutexLock lock(mutex_);
  return EntryOf(endpoint).health == Health::kWell;
}

std::string Pool::Objection(Entry& entry, const etcdserverpb::StatusResponse& status) {
  if (cluster_.load() == 0) {
    cluster_.store(status.header().cluster_id());
    cluster_from_ = entry.endpoint->Url().text;
  }
  entry.stranger = !IsOurs(status.header());
  entry.hopeless = true;
  if (entry.stranger) return StrangerWhy(status.header());
  if (std::string old = CheckVersion(status.version()).error; !old.empty()) return old;
  entry.hopeless = false;
  if (status.islearner()) return "it is a learner, which serves no clients";
  if (status.leader() == 0) return "the member has no leader";
  return {};
}

void Pool::NoteLeader(const etcdserverpb::StatusResponse& status) {
  // A member that was cut off remembers an old leader, with an old term.
  if (status.raftterm() < term_) return;
  term_ = status.raftterm();
  leader_ = status.leader();
  for (size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].health == Health::kWell && entries_[i].member == leader_) preferred_ = i;
  }
}

void Pool::Report(Endpoint& endpoint, const Checkup& checkup, TimePoint now) {
  base::MutexLock lock(mutex_);
  Entry& entry = EntryOf(endpoint);
  entry.checking = false;
  entry.checked = true;
  entry.hopeless = checkup.hopeless;
  std::string why = checkup.why;
  if (checkup.answered) {
    entry.member = checkup.status.header().member_id();
    why = Objection(entry, checkup.status);
  }
  if (!why.empty()) {
    SetAside(entry, why, now);
    return;
  }
  SetWell(entry, now);
  if (checkup.answered) {
    if (version_.empty()) version_ = Bounded(checkup.status.version());
    NoteLeader(checkup.status);
  }
}

bool Pool::AwaitFirst(TimePoint deadline) {
  base::MutexLock lock(mutex_);
  for (;;) {
    const TimePoint now = std::chrono::steady_clock::now();
    bool all_checked = true;
    bool all_hopeless = true;
    TimePoint patience = deadline;
    bool any_well = false;
    for (const Entry& entry : entries_) {
      all_checked = all_checked && entry.checked;
      all_hopeless = all_hopeless && entry.hopeless;
      if (entry.health != Health::kWell) continue;
      any_well = true;
      patience = std::min(patience, entry.well_since + kFirstRound);
    }
    if (any_well && (all_checked || now >= patience)) return true;
    if (now >= deadline || (all_checked && all_hopeless)) return any_well;
    changed_.WaitFor(mutex_, patience - now);
  }
}

std::string Pool::StrangerText() const {
  base::MutexLock lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.stranger) return fmt::format("{}: {}", entry.endpoint->Url().text, entry.why);
  }
  return {};
}

bool Pool::AllStrangers() const {
  base::MutexLock lock(mutex_);
  return std::all_of(entries_.begin(), entries_.end(),
                     [](const Entry& entry) { return entry.stranger; });
}

std::string Pool::TroubleText() const {
  base::MutexLock lock(mutex_);
  std::string text;
  for (const Entry& entry : entries_) {
    if (entry.health == Health::kWell) continue;
    fmt::format_to(std::back_inserter(text), "{}{}: {}", text.empty() ? "" : "; ",
                   entry.endpoint->Url().text, entry.why.empty() ? "no answer in time" : entry.why);
  }
  return text;
}

std::string Pool::Version() const {
  base::MutexLock lock(mutex_);
  return version_;
}

VersionNote CheckVersion(std::string_view version) {
  int parts[3] = {0, 0, 0};  // 3.6.0-rc.1 counts as 3.6.0.
  const char* at = version.data();
  const char* const end = version.data() + version.size();
  for (int& part : parts) {
    const auto [next, error] = std::from_chars(at, end, part);
    if (error != std::errc()) break;
    at = next != end && *next == '.' ? next + 1 : end;
  }
  const auto [major, minor, patch] = parts;
  if (major < 3 || (major == 3 && minor < 4)) {
    return {.error = fmt::format("it is etcd {}, and 3.4 or later is needed",
                                 version.empty() ? "of an unknown version" : Bounded(version)),
            .warning = {}};
  }
  if (major == 3 && ((minor == 4 && patch < 36) || (minor == 5 && patch < 18))) {
    return {.error = {},
            .warning =
                "this etcd has known bugs in watches (events late, doubled or lost around "
                "compactions); Berth works around them, 3.4.36 and 3.5.18 are free of them"};
  }
  return {};
}

}  // namespace berth::store::etcd::wire
