#include "ui/event_hub.h"

#include <fmt/format.h>

#include <utility>

namespace berth::ui {
namespace {

std::shared_ptr<const std::string> Kept(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

}  // namespace

std::string EventText(std::string_view name, std::string_view data) {
  std::string text = fmt::format("event: {}\n", name);
  while (true) {
    const size_t end = data.find_first_of("\r\n");
    text += fmt::format("data: {}\n", data.substr(0, end));
    if (end == std::string_view::npos) return text + "\n";
    data.remove_prefix(end + 1);
  }
}

/// One client. All of it runs on the io thread of the client's connection.
class EventHub::Stream final : public http::Source {
 public:
  Stream(EventHub& hub, std::string owner, std::function<bool()> is_open)
      : hub_(hub), owner_(std::move(owner)), is_open_(std::move(is_open)) {}
  ~Stream() override { hub_.Closed(owner_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  http::Pulled Pull(http::Pieces& out, size_t /*room*/) override {
    if (draining_) {
      out.Add(EventText("bye", "{}"));
      return http::Pulled::kEnd;
    }
    if (!is_open_()) return http::Pulled::kEnd;
    const size_t before = out.bytes();
    AddNews(out);
    const base::SteadyTime now = hub_.clock_.Steady();
    if (out.bytes() == before && now >= comment_at_) out.Add(std::string(":\n\n"));
    if (out.bytes() > before) comment_at_ = now + hub_.options_.comment_every;
    return http::Pulled::kWait;
  }

  http::Signal* signal() override { return &hub_.signal_; }
  std::optional<base::SteadyTime> wake_at() override { return comment_at_; }
  void OnDrain() override { draining_ = true; }

 private:
  void AddNews(http::Pieces& out) {
    const auto news = hub_.Newest();
    if (!begun_) out.Add(std::string("retry: 1000\n\n"));
    if (news->view != view_) {
      const bool next = begun_ && news->view == view_ + 1;
      out.Add(next ? news->step : news->whole);
      view_ = news->view;
    }
    if (!begun_) {
      if (!news->state_text->empty()) out.Add(news->state_text);
    } else if (news->state != state_) {
      out.Add(news->state_change);
    }
    state_ = news->state;
    begun_ = true;
  }

  EventHub& hub_;
  const std::string owner_;
  const std::function<bool()> is_open_;
  bool begun_ = false;
  bool draining_ = false;
  uint64_t view_ = 0;   // The last one that was sent; 0 if none was.
  uint64_t state_ = 0;  // The same for the state.
  base::SteadyTime comment_at_{};
};

EventHub::EventHub(const base::Clock& clock, EventHubOptions options)
    : clock_(clock), options_(options), news_([] {
        const auto empty = Kept("");
        return std::make_shared<const News>(
            News{.step = empty, .whole = empty, .state_text = empty, .state_change = empty});
      }()) {}

EventHub::~EventHub() = default;

void EventHub::PublishView(uint64_t number, std::string step, std::string whole) {
  {
    const base::MutexLock lock(mutex_);
    auto next = std::make_shared<News>(*news_);
    next->view = number;
    next->step = Kept(std::move(step));
    next->whole = Kept(std::move(whole));
    news_ = std::move(next);
  }
  signal_.Notify();
}

void EventHub::PublishState(std::string state, std::string change) {
  {
    const base::MutexLock lock(mutex_);
    auto next = std::make_shared<News>(*news_);
    ++next->state;
    next->state_text = Kept(std::move(state));
    next->state_change = Kept(std::move(change));
    news_ = std::move(next);
  }
  signal_.Notify();
}

base::Result<std::unique_ptr<http::Source>> EventHub::Open(const std::string& owner,
                                                           std::function<bool()> is_open) {
  {
    const base::MutexLock lock(mutex_);
    const auto own = owners_.find(owner);
    const size_t have = own == owners_.end() ? 0 : own->second;
    if (streams_ >= options_.streams || have >= options_.streams_of_owner) {
      return base::Fail(base::Reason::kTooManyRequests,
                        "too many pages are open at the same time; close some of them");
    }
    ++streams_;
    ++owners_[owner];
  }
  return std::unique_ptr<http::Source>(std::make_unique<Stream>(*this, owner, std::move(is_open)));
}

std::shared_ptr<const EventHub::News> EventHub::Newest() const {
  const base::MutexLock lock(mutex_);
  return news_;
}

void EventHub::Closed(const std::string& owner) {
  const base::MutexLock lock(mutex_);
  --streams_;
  if (--owners_[owner] == 0) owners_.erase(owner);
}

size_t EventHub::streams() const {
  const base::MutexLock lock(mutex_);
  return streams_;
}

}  // namespace berth::ui
