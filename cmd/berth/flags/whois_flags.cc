// The commands that answer who has a value, draw a range, and list what blocks a change of a range.
#include <CLI/CLI.hpp>
#include <memory>

#include "berth/flags/command_set.h"
#include "berth/inspect/blockers_command.h"
#include "berth/inspect/map_command.h"
#include "berth/inspect/whois_command.h"

namespace berth::cli {
namespace {

constexpr const char* kWhoisHelp =
    "Shows who has an address or a port, and whether it is safe to hard-code\n"
    "\n"
    "It shows the owner, since when, whether a client named the value or the allocator picked it,\n"
    "the range and band, the state, and the neighbours. If the value is free, it says whether a\n"
    "manifest may name it, and why. It shows too what a Service, a namespace or a range has.";

constexpr const char* kWhoisExamples =
    "VALUE is an address (10.96.0.10, [fd00::a]:443), a port (30080), a Service (shop/web, web,\n"
    "web.shop.svc), a namespace, or a range (its name, 10.96.0.0/16, 30000-32767).\n"
    "\n"
    "Examples:\n"
    "  berth whois 10.96.0.10 30088\n"
    "  berth whois shop/web -o json\n"
    "  kubectl get services -A -o json --show-managed-fields | berth whois 30088 -f -\n"
    "\n"
    "Exit status: 0 if all were found (a free value is found), 1 if a Service, namespace or range\n"
    "does not exist or the source cannot be read, 2 for invalid arguments or files.";

constexpr const char* kMapHelp =
    "Draws a range: which values are free, taken, reserved, or in the wrong band\n"
    "\n"
    "Each cell stands for one value, or for many in a large range. With --at and --depth you look\n"
    "closer: each step of the depth shows one of 16 parts. Without RANGE it lists all ranges.";

constexpr const char* kMapExamples =
    "RANGE is the name of a range, its values (10.96.0.0/16, 30000-32767), or a part of them.\n"
    "\n"
    "Examples:\n"
    "  berth map\n"
    "  berth map 10.96.0.0/16\n"
    "  berth map 10.96.0.0/16 --at 10.96.4.7\n"
    "  berth map 30000-32767 -o json\n"
    "\n"
    "Exit status: 0 for success, 2 for invalid arguments or files, 1 for other errors.";

constexpr const char* kBlockersHelp =
    "Shows what stands in the way of shrinking, draining or replacing a range\n"
    "\n"
    "It lists every Service and every record with a value that no range would contain afterwards,\n"
    "by namespace and owner, how hard each is to move, what to do, and what the server would do\n"
    "if you made the change now.";

constexpr const char* kBlockersExamples =
    "RANGE is the name of a range, its values (10.96.0.0/16, 30000-32767), or a part of them.\n"
    "\n"
    "Examples:\n"
    "  berth blockers kubernetes\n"
    "  berth blockers 10.96.0.0/12 --to 10.96.0.0/16\n"
    "  berth blockers kubernetes --to 10.96.0.0/16 --to fd00::/112\n"
    "  berth blockers 30000-32767 --to 30000-31999 -o json\n"
    "\n"
    "Exit status: 0 if nothing stands in the way, 1 if something does or the source cannot be\n"
    "read, 2 for invalid arguments or files.";

}  // namespace

void AddWhois(CommandSet& commands) {
  const auto arguments = std::make_shared<WhoisArguments>();
  CLI::App& whois = commands.Add("whois", kWhoisHelp, kWhoisExamples,
                                 [arguments] { return RunWhois(*arguments); });
  whois.add_option("VALUE", arguments->values, "Addresses, ports, Services, namespaces, ranges")
      ->required()
      ->option_text("...");
  whois
      .add_option("--history", arguments->history,
                  "Data directory of berth observe, to show past owners too")
      ->option_text("DIR");
  whois.add_option("--at", arguments->at, "Who held it at this moment, by the history")
      ->option_text("TIME");
  AddSourceFlags(whois, arguments->source);
  AddOutputFlags(whois, arguments->output);
}

void AddMap(CommandSet& commands) {
  const auto arguments = std::make_shared<MapArguments>();
  CLI::App& map =
      commands.Add("map", kMapHelp, kMapExamples, [arguments] { return RunMap(*arguments); });
  map.add_option("RANGE", arguments->range, "Range to draw")->option_text(" ");
  map.add_option("--at", arguments->at, "Value to look at")->option_text("VALUE");
  map.add_option("--depth", arguments->depth,
                 "How close to look, 0 to 32 (default: 0, or every value with --at)")
      ->option_text("N");
  AddSourceFlags(map, arguments->source);
  AddOutputFlags(map, arguments->output);
}

void AddBlockers(CommandSet& commands) {
  const auto arguments = std::make_shared<BlockersArguments>();
  CLI::App& blockers = commands.Add("blockers", kBlockersHelp, kBlockersExamples,
                                    [arguments] { return RunBlockers(*arguments); });
  blockers.add_option("RANGE", arguments->question.range, "Range that shall change")
      ->required()
      ->option_text(" ");
  blockers
      .add_option("--to", arguments->question.to,
                  "Range that replaces it; may be repeated, once for each IP family")
      ->option_text("RANGE")
      ->expected(1)
      ->take_all();
  AddSourceFlags(blockers, arguments->source);
  AddOutputFlags(blockers, arguments->output);
}

}  // namespace berth::cli
