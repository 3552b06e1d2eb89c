// Annotations for ThreadSanitizer. One thread hands a tag to gRPC, and another gets it from the
// completion queue. gRPC orders the two, but by means that ThreadSanitizer does not see in a
// library that was built without it. These two functions tell it. In other builds they do nothing.
#pragma once

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define BERTH_TSAN 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define BERTH_TSAN 1
#endif

#if defined(BERTH_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace berth::store::etcd::wire {

/// Must be the last step before a call is started.
inline void HandOver([[maybe_unused]] void* tag) {
#if defined(BERTH_TSAN)
  __tsan_release(tag);
#endif
}

/// Must be the first step after the queue has returned the tag.
inline void TakeBack([[maybe_unused]] void* tag) {
#if defined(BERTH_TSAN)
  __tsan_acquire(tag);
#endif
}

}  // namespace berth::store::etcd::wire
