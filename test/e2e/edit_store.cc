// Changes keys of a data directory that no server uses, for the end-to-end tests. Values may be any
// bytes.
//
//   edit_store DIR get KEY       prints the value; exit status 3 if the key does not exist
//   edit_store DIR put KEY       takes the value from standard input
//   edit_store DIR delete KEY
#include <fmt/format.h>

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/log.h"
#include "store/blocking.h"
#include "store/rocks/rocks_engine.h"

namespace {

namespace store = berth::store;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kNotThere = 3;

int Fail(const berth::base::Error& error) {
  fmt::print(stderr, "edit_store: {}\n", error.message);
  return kFailed;
}

int PrintValue(store::Engine& engine, const std::string& key) {
  const auto entry = store::GetNow(engine, key);
  if (!entry) return Fail(entry.error());
  if (!*entry) return kNotThere;
  std::cout << (*entry)->value;
  return 0;
}

int Change(store::Engine& engine, store::Txn txn) {
  const auto reply = store::CommitNow(engine, std::move(txn));
  return reply.outcome == store::Outcome::kCommitted ? 0 : Fail(reply.error);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    fmt::print(stderr, "usage: edit_store DIR get|put|delete KEY\n");
    return kWrongUsage;
  }
  const berth::base::SystemClock clock;
  berth::base::Logger log({.minimum = berth::base::LogLevel::kWarn}, clock);
  const auto engine =
      store::rocks::RocksEngine::Open({.directory = argv[1], .create = false}, log, clock);
  if (!engine) return Fail(engine.error());
  const std::string_view what = argv[2];
  const std::string key = argv[3];
  if (what == "get") return PrintValue(**engine, key);
  if (what == "delete") return Change(**engine, {.deletes = {key}});
  const std::string value{std::istreambuf_iterator<char>(std::cin), {}};
  return Change(**engine, {.puts = {{.key = key, .value = value}}});
}
