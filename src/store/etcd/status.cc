#include "store/etcd/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace berth::store::etcd {

void Status::Trouble(Area area, std::string sentence) {
  base::MutexLock lock(mutex_);
  std::string& current = trouble_[static_cast<size_t>(area)];
  if (current.empty()) log_.Warn("etcd is in trouble", {{"why", sentence}});
  current = std::move(sentence);
}

void Status::Fine(Area area) {
  base::MutexLock lock(mutex_);
  std::string& current = trouble_[static_cast<size_t>(area)];
  if (current.empty()) return;
  log_.Info("etcd is healthy again", {{"was", current}});
  current.clear();
}

bool Status::InTrouble(Area area) const {
  base::MutexLock lock(mutex_);
  return !trouble_[static_cast<size_t>(area)].empty();
}

void Status::Stop(std::string why, bool reads) {
  {
    base::MutexLock lock(mutex_);
    reads_stopped_ = reads_stopped_ || reads;
    if (!stopped_.empty()) return;
    log_.Error("the store has stopped", {{"why", why}});
    stopped_ = std::move(why);
  }
  if (on_stop_) on_stop_();
}

std::optional<base::Error> Status::WriteStop() const {
  base::MutexLock lock(mutex_);
  if (stopped_.empty()) return std::nullopt;
  return base::Error{.reason = base::Reason::kServiceUnavailable, .message = stopped_};
}

std::optional<base::Error> Status::ReadStop() const {
  base::MutexLock lock(mutex_);
  if (!reads_stopped_) return std::nullopt;
  return base::Error{.reason = base::Reason::kServiceUnavailable, .message = stopped_};
}

int64_t Status::Seen() const {
  base::MutexLock lock(mutex_);
  return seen_;
}

void Status::Saw(int64_t revision) {
  base::MutexLock lock(mutex_);
  seen_ = std::max(seen_, revision);
}

bool Status::Check(const etcdserverpb::ResponseHeader& header, int64_t seen_before) {
  std::string why;
  {
    base::MutexLock lock(mutex_);
    if (cluster_ == 0) cluster_ = header.cluster_id();
    seen_ = std::max(seen_, header.revision());
    if (header.cluster_id() != cluster_) {
      why = fmt::format(
          "etcd answers as cluster {:x}, but this process was started with cluster {:x}: another "
          "etcd has taken its place, and the store must be opened again",
          header.cluster_id(), cluster_);
    } else if (header.revision() < seen_before) {
      why = fmt::format(
          "etcd is at revision {}, but has been at {} before: it was restored from a backup or "
          "lost what it had acknowledged, and the store must be opened again",
          header.revision(), seen_before);
    } else {
      return !reads_stopped_;
    }
  }
  Stop(std::move(why), /*reads=*/true);
  return false;
}

Health Status::Get() const {
  base::MutexLock lock(mutex_);
  if (!stopped_.empty()) return {.writable = false, .why = stopped_};
  for (const std::string& sentence : trouble_) {
    if (!sentence.empty()) return {.writable = false, .why = sentence};
  }
  return {};
}

}  // namespace berth::store::etcd
