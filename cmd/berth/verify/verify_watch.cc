#include "berth/verify/verify_watch.h"

#include <optional>
#include <string>
#include <utility>

#include "allocation/allocation_forms.h"
#include "allocation/claims/allocation_form.h"
#include "berth/verify/api_look.h"
#include "berth/verify/view_look.h"
#include "kube/access.h"

namespace berth::cli {
namespace {

/// Looks at one view after the other.
class ViewLooks {
 public:
  ViewLooks(kube::Access access, const base::Clock& clock)
      : access_(std::move(access)), clock_(clock) {}

  Look Next(const inspect::Cluster& view) { return settled_.Next(LookAt(view), clock_.Steady()); }

 private:
  Look LookAt(const inspect::Cluster& view) {
    if (view.server != inspect::ServerKind::kBerth) return LookAtView(view);
    // A Berth may be switched to bitmaps at any time. It then has no records to compare with.
    if (const auto form = AskForm(access_); form && *form) form_ = **form;
    if (form_ == allocation::FormText(allocation::AllocationForm::kRecords)) {
      return LookAtView(view);
    }
    inspect::Cluster without = view;
    without.keeps = audit::Keeps::kNothing;
    without.records.clear();
    Look look = LookAtView(without);
    look.form = form_;
    look.not_checked = UnseenByApi(form_);
    for (const inspect::Gap& gap : view.gaps) look.not_checked.push_back(gap.what);
    return look;
  }

  const kube::Access access_;
  const base::Clock& clock_;
  WatchedLooks settled_;
  std::string form_{allocation::FormText(allocation::AllocationForm::kRecords)};
};

}  // namespace

base::Result<int> WatchCluster(RunningCluster running, const base::Clock& clock, bool table,
                               int not_written, const LookRenderer& render) {
  ViewLooks looks(running.access, clock);
  return ShowAgain(std::move(running), clock,
                   {.render = [&](const inspect::Cluster& view) -> base::Result<Rendered> {
                      return render(looks.Next(view));
                    },
                    .table = table,
                    .ripens = true,
                    .not_written = not_written});
}

}  // namespace berth::cli
