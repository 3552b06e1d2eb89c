// The controllers' own writes: so many at once and no more, so that those of clients find room
// beside them. The answers are handed out on the controllers' thread.
//
// Threads: used by one, the one that runs what is posted to the Wake.
#pragma once

#include <cstddef>

#include "controllers/wake.h"
#include "registry/registry.h"

namespace berth::controllers {

class Writer {
 public:
  /// `registry` must outlive the last answer.
  Writer(registry::Registry& registry, WakePtr wake, size_t max);

  /// One more may begin.
  bool HasRoom() const { return under_way_ < max_; }
  size_t UnderWay() const { return under_way_; }

  void Create(registry::Target target, codec::Value object, registry::Done done);
  void Delete(registry::Target target, registry::DeleteOptions remove, registry::Done done);
  /// Of an object that is there, and has that uid.
  using Edit = std::function<void(codec::Value& object)>;
  void Update(registry::Target target, registry::Door door, std::string uid, Edit edit,
              registry::Done done);

 private:
  /// Takes a place, and gives it back on the controllers' thread.
  registry::Done Answer(registry::Done done);

  registry::Registry& registry_;
  const WakePtr wake_;
  const size_t max_;
  size_t under_way_ = 0;
};

}  // namespace berth::controllers
