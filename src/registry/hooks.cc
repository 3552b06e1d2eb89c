#include "registry/hooks.h"

namespace berth::registry {
namespace {

class NoHooks final : public KindHooks {
 public:
  std::shared_ptr<WriteHooks> Begin(const Target& /*target*/,
                                    const CommonOptions& /*options*/) override {
    return write_;
  }

 private:
  const std::shared_ptr<WriteHooks> write_ = std::make_shared<WriteHooks>();  // Has no state.
};

}  // namespace

KindHooks& HookTable::Of(const Row& row) const {
  static NoHooks none;
  for (const auto& [of, hooks] : hooks_) {
    if (of == &row) return *hooks;
  }
  return none;
}

}  // namespace berth::registry
