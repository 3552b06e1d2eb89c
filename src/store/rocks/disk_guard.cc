#include "store/rocks/disk_guard.h"

#include <fmt/format.h>

#include <utility>

namespace berth::store::rocks {
namespace {

constexpr std::chrono::milliseconds kLookEvery{100};

std::string Mebibytes(uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

DiskGuard::DiskGuard(std::string directory, uint64_t min_free, FreeBytes free_bytes)
    : directory_(std::move(directory)), min_free_(min_free), free_bytes_(std::move(free_bytes)) {}

uint64_t DiskGuard::Look() {
  const auto now = std::chrono::steady_clock::now();
  base::MutexLock lock(mutex_);
  if (!looked_ || now - *looked_ >= kLookEvery) {
    looked_ = now;
    // An error here does not mean that the disk is full. The next write will report what is wrong.
    free_ = free_bytes_(directory_).value_or(UINT64_MAX);
  }
  return free_;
}

std::optional<base::Error> DiskGuard::Refusal() {
  const uint64_t free = Look();
  if (free >= min_free_) return std::nullopt;
  return base::Error{
      .reason = base::Reason::kServiceUnavailable,
      .message = fmt::format("the disk of {} is full: {} are free, and Berth writes only while {} "
                             "are; make room, and writes go on by themselves",
                             directory_, Mebibytes(free), Mebibytes(min_free_))};
}

bool DiskGuard::IsExhausted() { return Look() < min_free_ / 2; }

}  // namespace berth::store::rocks
