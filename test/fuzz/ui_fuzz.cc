// Feeds the headers and paths of foreign requests to what decides who may see the page.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/require.h"
#include "ui/answers.h"
#include "ui/gate.h"
#include "ui/origin_check.h"
#include "ui/secrets.h"

namespace {

using namespace berth;  // NOLINT(google-build-using-namespace)

/// The gate of one run. No input has its link.
ui::Gate& TheGate() {
  static ui::Gate gate;
  static const std::string link = gate.NewLink();
  return gate;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view first = input.substr(0, input.find('\n'));
  const std::string_view second = input.substr(std::min(first.size() + 1, input.size()));

  http::Request request{.method = "GET", .path = std::string(ui::Gate::kLinkPath).append(first)};
  request.headers.Add("cookie", first);
  request.headers.Add("cookie", second);
  request.headers.Add("host", first);
  request.headers.Add("origin", second);
  fuzz::Require(!TheGate().MayPass(request));
  fuzz::Require(TheGate().Open(request).response.code != 200);
  for (const std::string_view value : ui::FindCookies(request.headers, "c")) {
    fuzz::Require(value.find(';') == std::string_view::npos);
  }
  fuzz::Require(ui::IsSame(first, first) != first.empty());
  fuzz::Require(!ui::IsSame(first, second) || first == second);

  const ui::OriginCheck local({.hosts = ui::LoopbackHosts(4321)});
  const bool own = local.IsOwnHost(first);
  fuzz::Require(!own || first.ends_with(":4321"));
  const bool refused = local.WhyRefused(request, ui::Asked::kData).has_value();
  fuzz::Require(refused || (own && second.ends_with(first)));
  const ui::OriginCheck team({.tls = true, .names = {"ui.example.com"}, .any_address = true});
  fuzz::Require(!team.IsOwnHost(first) || first.find_first_of("0123456789uU[") != first.npos);
  ui::NamesTag(first, second);
  ui::NamesEncoding(first, "br");
  return 0;
}
