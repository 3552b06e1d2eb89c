#include "controllers/writer.h"

#include <memory>
#include <utility>

#include "codec/read.h"
#include "registry/kind_rows.h"
#include "registry/object_errors.h"

namespace berth::controllers {
Writer::Writer(registry::Registry& registry, WakePtr wake, size_t max)
    : registry_(registry), wake_(std::move(wake)), max_(max) {}

registry::Done Writer::Answer(registry::Done done) {
  ++under_way_;
  return [this, wake = wake_, done = std::move(done)](base::Result<registry::Outcome> outcome) {
    wake->Post([this, done, outcome = std::move(outcome)] {
      --under_way_;
      done(outcome);
    });
  };
}

void Writer::Create(registry::Target target, codec::Value object, registry::Done done) {
  registry_.Create(std::move(target), std::move(object), {.manager = registry::kOwnManager},
                   Answer(std::move(done)));
}

void Writer::Delete(registry::Target target, registry::DeleteOptions remove, registry::Done done) {
  registry_.Delete(std::move(target), std::move(remove), {}, Answer(std::move(done)));
}

void Writer::Update(registry::Target target, registry::Door door, std::string uid, Edit edit,
                    registry::Done done) {
  registry::NextState next = [target, uid = std::move(uid), edit = std::move(edit)](
                                 const codec::Value* current) -> base::Result<registry::Next> {
    if (current == nullptr || codec::StringAt(*current, "metadata", "uid") != uid) {
      return tl::unexpected(registry::NotFound(target.served.Kind(), target.name));
    }
    registry::Next out{.object = *current};
    edit(out.object);
    return out;
  };
  registry_.Update(std::move(target), {.door = door, .way = registry::Way::kPatch}, std::move(next),
                   {.manager = registry::kOwnManager}, Answer(std::move(done)));
}

}  // namespace berth::controllers
