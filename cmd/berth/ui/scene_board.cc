#include "berth/ui/scene_board.h"

#include <utility>

#include "codec/json.h"
#include "codec/timestamp.h"

namespace berth::cli {
namespace {

std::string ViewEvent(const Scene* before, const Scene& now) {
  return ui::EventText("view", codec::WriteJson(ViewDocument(before, now)));
}

}  // namespace

void SceneBoard::Show(std::shared_ptr<const Scene> scene) {
  const std::shared_ptr<const Scene> before = newest().scene;
  const uint64_t seq = scene->seq();
  std::string whole = ViewEvent(nullptr, *scene);
  std::string step = before == nullptr ? whole : ViewEvent(before.get(), *scene);
  {
    const base::MutexLock lock(mutex_);
    newest_.scene = std::move(scene);
    ++newest_.version;
  }
  // After the scene can be asked for, because pages ask at once.
  hub_.PublishView(seq, std::move(step), std::move(whole));
}

void SceneBoard::SetTrouble(std::optional<SceneTrouble> trouble) {
  std::string state;
  if (trouble) {
    state = ui::EventText(
        "trouble", codec::WriteJson(codec::Object{{"message", trouble->message},
                                                  {"since", codec::FormatTime(trouble->since)}}));
  }
  std::string change = trouble ? state : ui::EventText("well", "{}");
  {
    const base::MutexLock lock(mutex_);
    newest_.trouble = std::move(trouble);
    ++newest_.version;
  }
  hub_.PublishState(std::move(state), std::move(change));
}

SceneBoard::Newest SceneBoard::newest() const {
  const base::MutexLock lock(mutex_);
  return newest_;
}

}  // namespace berth::cli
