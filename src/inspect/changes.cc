#include "inspect/changes.h"

#include <algorithm>

namespace berth::inspect {
namespace {

using alloc::PoolId;
using alloc::State;

class Differ {
 public:
  Differ(const UsedValues& before, const UsedValues& now, size_t most)
      : before_(before), now_(now), most_(most) {}

  void Compare(PoolId pool) {
    const auto& old = before_.Of(pool);
    const auto& fresh = now_.Of(pool);
    size_t i = 0;
    size_t j = 0;
    while (i < old.values.size() || j < fresh.values.size()) {
      const bool only_old = j == fresh.values.size() ||
                            (i < old.values.size() && old.values[i].value < fresh.values[j].value);
      const bool only_fresh =
          !only_old && (i == old.values.size() || fresh.values[j].value < old.values[i].value);
      if (only_old) {
        Add(pool, &old.values[i++], nullptr);
      } else if (only_fresh) {
        Add(pool, nullptr, &fresh.values[j++]);
      } else {
        const UsedValue& a = old.values[i];
        const UsedValue& b = fresh.values[j];
        const bool same =
            a.state == b.state && a.owners == b.owners && old.owners[i] == fresh.owners[j];
        if (!same) Add(pool, &a, &b);
        ++i;
        ++j;
      }
    }
  }

  Changes Take() && { return std::move(changes_); }

 private:
  void Add(PoolId pool, const UsedValue* old, const UsedValue* fresh) {
    if (changes_.listed.size() == most_) {
      ++changes_.more;
      return;
    }
    const bool had = old != nullptr && old->state == State::kTaken;
    const bool has = fresh != nullptr && fresh->state == State::kTaken;
    Change& change = changes_.listed.emplace_back();
    change.value = {.pool = pool, .value = fresh != nullptr ? fresh->value : old->value};
    if (has && !had) change.kind = ChangeKind::kTaken;
    if (had && !has) change.kind = ChangeKind::kReleased;
    if (fresh != nullptr) change.owner = now_.OwnerOf(*fresh);
    if (change.owner.empty() && old != nullptr) change.owner = before_.OwnerOf(*old);
  }

  const UsedValues& before_;
  const UsedValues& now_;
  const size_t most_;
  Changes changes_;
};

}  // namespace

std::string_view NameOf(ChangeKind kind) {
  if (kind == ChangeKind::kTaken) return "taken";
  return kind == ChangeKind::kReleased ? "released" : "changed";
}

Changes FindChanges(const UsedValues& before, const UsedValues& now, size_t most) {
  Differ differ(before, now, most);
  for (const PoolId pool : alloc::kAllPools) differ.Compare(pool);
  return std::move(differ).Take();
}

}  // namespace berth::inspect
