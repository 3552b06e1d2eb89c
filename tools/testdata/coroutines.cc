// For check_coroutines_test.py: lines marked BAD must be found, all others must not.
#include <coroutine>
#include <functional>
#include <string>
#include <utility>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  bool await_ready() { return true; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return 0; }
};

struct Agg {
  std::string name;
  int number = 0;
};

template <typename F>
Task Call(F f) {
  f();
  co_return;
}
Task CallFunction(std::function<void()> f) {
  f();
  co_return;
}
Task TakeAgg(Agg) { co_return; }
Task TakeString(std::string) { co_return; }

Task Bad(std::string captured) {
  co_await Call([captured] { (void)captured; });          // BAD
  co_await CallFunction([captured] { (void)captured; });  // BAD
  co_await TakeAgg(Agg{captured, 1});                     // BAD
  co_await TakeAgg({.name = captured, .number = 1});      // BAD
}

Task Good(std::string captured) {
  auto lambda = [captured] { (void)captured; };
  co_await Call(std::move(lambda));
  Agg agg{captured, 1};
  co_await TakeAgg(std::move(agg));
  co_await TakeString(captured + "x");
  co_await TakeString(std::string("co_await Call([captured] {})"));
  if (co_await Task() == 0) co_return;
}
