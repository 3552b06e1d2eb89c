// The writes of the controllers: a limited number at once, so that there is room for those of
// clients. Answers are delivered on the controllers' thread.
//
// Threads: one, which also runs the calls posted to the Wake.
#pragma once

#include <cstddef>

#include "controllers/wake.h"
#include "registry/registry.h"

namespace berth::controllers {

class Writer {
 public:
  /// `registry` must outlive the last answer.
  Writer(registry::Registry& registry, WakePtr wake, size_t max);

  /// Returns whether another write may begin.
  bool HasRoom() const { return under_way_ < max_; }
  size_t UnderWay() const { return under_way_; }

  void Create(registry::Target target, codec::Value object, registry::Done done);
  void Delete(registry::Target target, registry::DeleteOptions remove, registry::Done done);
  /// Updates an existing object that has this uid.
  using Edit = std::function<void(codec::Value& object)>;
  void Update(registry::Target target, registry::Door door, std::string uid, Edit edit,
              registry::Done done);

 private:
  /// Counts a write, until its answer is delivered on the controllers' thread.
  registry::Done Answer(registry::Done done);

  registry::Registry& registry_;
  const WakePtr wake_;
  const size_t max_;
  size_t under_way_ = 0;
};

}  // namespace berth::controllers
