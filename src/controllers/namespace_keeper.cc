#include "controllers/namespace_keeper.h"

#include <chrono>
#include <string>

#include "codec/value.h"

namespace berth::controllers {
namespace {

constexpr std::chrono::minutes kCheckNamespacesEvery{1};

}  // namespace

NamespaceKeeper::NamespaceKeeper(const Context& context)
    : context_(context), due_(context.clock.Steady() + kCheckNamespacesEvery) {}

void NamespaceKeeper::OnObject(const state::ObjectPtr& now, const state::ObjectPtr& before) {
  const bool is_namespace =
      now == nullptr && before->Resource() == context_.registry.GetKinds().NamespaceRow().resource;
  if (is_namespace) due_ = context_.clock.Steady();
}

bool NamespaceKeeper::Work() {
  if (context_.clock.Steady() < due_ || !context_.writer.HasRoom()) return false;
  due_ = context_.clock.Steady() + kCheckNamespacesEvery;
  const registry::Row& row = context_.registry.GetKinds().NamespaceRow();
  const state::SnapshotPtr snapshot = context_.follower.Current();
  bool any = false;
  for (const std::string_view name : kSystemNamespaces) {
    if (snapshot->Find(context_.registry.GetResources().Key(row.resource, {}, name)) != nullptr) {
      continue;
    }
    any = true;
    // A failed write is repeated the next time.
    context_.writer.Create(
        {.served = {.row = &row, .view = row.views.data()}, .name = std::string(name)},
        codec::Object{{"metadata", codec::Object{{"name", name}}}},
        [](const base::Result<registry::Outcome>&) {});
  }
  return any;
}

}  // namespace berth::controllers
