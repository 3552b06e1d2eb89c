#include "berth/inspect/whois_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "berth/inspect/blockers_text.h"
#include "berth/inspect/map_command.h"
#include "berth/inspect/map_view.h"
#include "berth/text.h"
#include "inspect/testing/small_cluster.h"

namespace berth::cli {
namespace {

using inspect::ClusterReader;
using inspect::Origin;
using inspect::SmallCluster;
using rules::RecordState;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Style kAscii{};

inspect::Cluster Shop() {
  const std::string created = "2026-01-02T03:04:05Z";
  SmallCluster small("2026-01-03T03:04:05Z");
  small.Range("10.0.0.0/24")
      .Range("30000-32767")
      .Add({.name_space = "shop",
            .name = "web",
            .values = {"10.0.0.99", "30088"},
            .origin = Origin::kNamed,
            .manager = "helm",
            .type = "NodePort",
            .created = created})
      .Add({.name = "cart", .values = {"10.0.0.7"}, .created = created})
      .Add({.name_space = "blog", .name = "copy", .values = {"10.0.0.7"}, .created = created})
      .Record("10.0.0.7", RecordState::kAllocated, "shop/cart")
      .Record("10.0.0.5", RecordState::kReserved, "shop/later");
  return small.Finish();
}

std::string Whois(const char* question, const Style& style = kAscii, bool wide = false) {
  const inspect::Cluster cluster = Shop();
  const inspect::Census census(cluster);
  const auto answer = inspect::Ask(census, inspect::ReadQuestion(question).value());
  return WhoisText(census, {answer}, style, wide);
}

std::string Map(const MapArguments& arguments, const Style& style = kAscii) {
  const inspect::Cluster cluster = Shop();
  const inspect::Census census(cluster);
  const auto views = MapViews(census, arguments);
  if (!views) return views.error().message;
  return MapText(census, views->front(), style);
}

std::string BlockersOf(const char* range, const std::string& to, const Style& style = kAscii) {
  const inspect::Cluster cluster = Shop();
  const inspect::Census census(cluster);
  inspect::BlockersQuestion question{.range = range};
  if (!to.empty()) question.to.push_back(to);
  return BlockersText(census, inspect::FindBlockers(census, question).value(), style, false);
}

size_t Widest(const std::string& text) {
  std::istringstream lines(text);
  size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, DisplayWidth(line));
  return widest;
}

TEST(WhoisTextTest, AFreePortInTheDynamicBand) {
  EXPECT_EQ(
      Whois("30193"),
      "30193   node port, free\n"
      "\n"
      "  Hard-code    No. It is in the dynamic band, so any Service that does not name a value "
      "may get it:\n"
      "               the next one with a chance of 1 in 2,681, one of the next 100 with "
      "3.7%.\n"
      "  Safe         30085, 30084, 30083\n"
      "  Range        30000-32767, dynamic band 30086 - 32767\n"
      "  Neighbours   30088 (shop/web) below, none above\n"
      "  Note         The source has no records of node ports, and Kubernetes shows none. So "
      "a port that a\n"
      "               failed update leaked looks free here. If a request is refused although "
      "no Service has\n"
      "               the port, try again after ten minutes.\n");
}

TEST(WhoisTextTest, ATakenPort) {
  EXPECT_EQ(Whois("30088"),
            "30088   node port, taken\n"
            "\n"
            "  Service     shop/web, NodePort\n"
            "  Serves      80/TCP (http)\n"
            "  Origin      named by helm\n"
            "  Since       2026-01-02T03:04:05Z, 24h ago, when the Service was created\n"
            "  Range       30000-32767, dynamic band 30086 - 32767\n"
            "  Safe near   30085, 30084, 30083\n");
}

TEST(WhoisTextTest, TwoOwnersAreLoud) {
  EXPECT_THAT(Whois("10.0.0.7"), AllOf(HasSubstr("10.0.0.7   IPv4 address, TAKEN BY 2 SERVICES\n"),
                                       HasSubstr("  Service      blog/copy, ClusterIP\n"
                                                 "               shop/cart, ClusterIP\n"),
                                       HasSubstr("Only one of them can work.")));
  EXPECT_THAT(Whois("10.0.0.7", {.color = true}), HasSubstr("\x1b[31mTAKEN BY 2 SERVICES\x1b[0m"));
  EXPECT_THAT(Whois("shop/cart"), HasSubstr("also taken by blog/copy"));
}

TEST(WhoisTextTest, RecordsAndServicesThatDisagree) {
  EXPECT_THAT(Whois("10.0.0.99"), HasSubstr("Record       None, although a Service has it."));
  EXPECT_THAT(Whois("10.0.0.5"),
              AllOf(HasSubstr("10.0.0.5   IPv4 address, reserved\n"),
                    HasSubstr("No, except in Service shop/later, for which it is reserved.")));
  EXPECT_THAT(Whois("10.0.0.6"), HasSubstr("Hard-code    Yes. It is in the static band."));
  EXPECT_THAT(Whois("10.0.0.0"), HasSubstr("No. It can never be given out: network address."));
}

/// Asks about a value of a cluster with these objects, as JSON.
std::string WhoisIn(const std::vector<const char*>& objects, const char* question) {
  ClusterReader reader({.read_at = SmallCluster::At("2026-01-03T03:04:05Z")});
  for (const char* object : objects) reader.AddAny(codec::ParseJson(object).value());
  const inspect::Cluster cluster = std::move(reader).Finish();
  const inspect::Census census(cluster);
  return WhoisText(census, {inspect::Ask(census, inspect::ReadQuestion(question).value())}, kAscii,
                   false);
}

TEST(WhoisTextTest, AReservationNamesItsParent) {
  const std::vector<const char*> objects = {
      R"({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
          "metadata": {"name": "kubernetes"}, "spec": {"cidrs": ["10.0.0.0/24"]}})",
      R"({"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
          "metadata": {"name": "10.0.0.5"}, "spec": {"parentRef":
          {"group": "gateways.example", "resource": "Gateways", "namespace": "shop",
           "name": "edge"}}})",
      R"({"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
          "metadata": {"name": "10.9.0.5"}, "spec": {"parentRef":
          {"resource": "nodes", "name": "a"}}})"};
  EXPECT_THAT(
      WhoisIn(objects, "10.0.0.5"),
      HasSubstr("IPAddress 10.0.0.5, reserved; its parent is gateways.gateways.example/shop/edge"));
  EXPECT_THAT(WhoisIn(objects, "10.9.0.5"),
              AllOf(HasSubstr("its parent is nodes/a"), HasSubstr("and no range contains it.")));
}

TEST(WhoisTextTest, ARecordMayComeBeforeItsService) {
  const auto record = [](const char* since) {
    return fmt::format(R"({{"apiVersion": "networking.k8s.io/v1", "kind": "IPAddress",
        "metadata": {{"name": "10.0.0.5", "creationTimestamp": "{}", "labels":
        {{"ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io"}}}}, "spec": {{"parentRef":
        {{"resource": "services", "namespace": "shop", "name": "web"}}}}}})",
                       since);
  };
  const std::string young = record("2026-01-03T03:04:00Z");
  EXPECT_THAT(WhoisIn({young.c_str()}, "10.0.0.5"),
              AllOf(HasSubstr("does not have the value yet"), Not(HasSubstr("orphan"))));
  const std::string old = record("2026-01-03T03:02:00Z");
  EXPECT_THAT(WhoisIn({old.c_str()}, "10.0.0.5"), HasSubstr("An orphan."));
}

TEST(WhoisTextTest, TheRangeThatMakesItSafeIsTheOneThatServes) {
  const std::vector<const char*> objects = {
      R"({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
          "metadata": {"name": "kubernetes", "deletionTimestamp": "2026-01-02T03:04:05Z"},
          "spec": {"cidrs": ["10.0.0.0/24"]}})",
      R"({"apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR",
          "metadata": {"name": "wide"}, "spec": {"cidrs": ["10.0.0.0/16"]}})"};
  EXPECT_THAT(WhoisIn(objects, "10.0.0.200"), HasSubstr("and 65,278 of its values are free."));
}

TEST(WhoisTextTest, WhatAHiddenServiceMayHaveIsNotFree) {
  inspect::Cluster cluster = Shop();
  cluster.records.clear();
  cluster.some_services = true;
  const auto whois = [&cluster](const char* question) {
    const inspect::Census census(cluster);
    return WhoisText(census, {inspect::Ask(census, inspect::ReadQuestion(question).value())},
                     kAscii, false);
  };
  for (const char* value : {"10.0.0.6", "30001"}) {
    EXPECT_THAT(whois(value), AllOf(HasSubstr(", of no Service that you may see\n"),
                                    HasSubstr("A Service that you may not see may have it."),
                                    Not(HasSubstr("Safe")), Not(HasSubstr("Yes"))));
  }
  EXPECT_THAT(whois("30088"), Not(HasSubstr("Safe near")));
  // The records tell of all addresses.
  cluster.keeps = audit::Keeps::kAddressesOnly;
  EXPECT_THAT(whois("10.0.0.6"), HasSubstr("Hard-code    Yes."));
  EXPECT_THAT(whois("30001"), HasSubstr("may not see"));
}

TEST(WhoisTextTest, ServicesNamespacesAndRanges) {
  EXPECT_EQ(Whois("shop/web"),
            "shop/web   Service, NodePort\n"
            "\n"
            "  Since   2026-01-02T03:04:05Z, 24h ago\n"
            "\n"
            "  HOLDS       BAND      RANGE         ORIGIN          SERVES          TROUBLE\n"
            "  10.0.0.99   dynamic   10.0.0.0/24   named by helm                   not recorded\n"
            "  30088       dynamic   30000-32767   named by helm   80/TCP (http)\n");
  EXPECT_EQ(Whois("shop"),
            "shop   namespace, 2 Services\n"
            "\n"
            "  HOLDS            TOTAL   NAMED   DRAWN\n"
            "  IPv4 addresses       2       1       0\n"
            "  node ports           1       1       0\n"
            "  1 value is reserved for its Services.\n"
            "\n"
            "  SERVICE   TYPE        HOLDS\n"
            "  cart      ClusterIP   10.0.0.7\n"
            "  web       NodePort    10.0.0.99, 30088\n");
  EXPECT_THAT(Whois("30000-32767"),
              HasSubstr("  static    30000 - 30085      86      86    0.0%\n"));
  EXPECT_THAT(Whois("car"),
              AllOf(HasSubstr("car   not found\n"), HasSubstr("Similar Services: shop/cart.\n")));
}

TEST(WhoisTextTest, NarrowTerminalsCutAndWrap) {
  for (const size_t width : {40U, 60U, 80U, 120U}) {
    const Style style{.utf8 = true, .width = width};
    for (const char* question : {"30193", "10.0.0.7", "10.0.0.99", "shop/web", "shop", "nosuch"}) {
      const std::string text = Whois(question, style);
      EXPECT_LE(Widest(text), width) << text;
      EXPECT_THAT(text, Not(HasSubstr(" \n"))) << text;
    }
    for (const char* range : {"10.0.0.0/24", "30000-32767"}) {
      EXPECT_LE(Widest(Map({.range = range}, style)), width);
      EXPECT_LE(Widest(BlockersOf(range, "", style)), width) << BlockersOf(range, "", style);
    }
  }
}

TEST(MapTextTest, ASmallRange) {
  EXPECT_EQ(Map({.range = "10.0.0.0/24"}),
            "10.0.0.0/24   IPv4 addresses\n"
            "\n"
            "  A cell is 1 address, a row is 64.\n"
            "\n"
            "              +0              +16             +32             +48\n"
            "                               v dynamic band from 10.0.0.17\n"
            "  10.0.0.0    x----R-!---------...............................................\n"
            "  10.0.0.64   ...................................N............................\n"
            "  10.0.0.128  ................................................................\n"
            "  10.0.0.192  ...............................................................x\n"
            "\n"
            "  - free, static band 14   . free 237   # taken 1   N named in the dynamic band 1   "
            "R reserved 1\n"
            "  ! taken twice 1   x never given out 2\n"
            "\n"
            "  3 of 254 addresses are not free (1.2%).\n");
}

TEST(MapTextTest, AtPointsAtAValue) {
  const std::string text = Map({.range = "30000-32767", .at = "30088"});
  EXPECT_THAT(text, HasSubstr("The part 30000 - 30172. A cell is 1 port, a row is 50."));
  EXPECT_THAT(text, HasSubstr("v 30088 shop/web\n"));
  EXPECT_THAT(Map({.range = "30000-32767", .at = "30100"}), HasSubstr("v 30100 free\n"));
  EXPECT_THAT(Map({.range = "30000-32767", .at = "80"}),
              HasSubstr("the range does not contain it"));
  EXPECT_THAT(Map({.range = "30000-32767", .at = "x"}), HasSubstr("must be an address or a port"));
  EXPECT_THAT(Map({.range = "30000-32767", .depth = 33}), HasSubstr("must be 0 to 32"));
  EXPECT_THAT(Map({.range = "green"}), HasSubstr("the ranges are 10.0.0.0/24 and 30000-32767"));
}

TEST(MapTextTest, ColourHasTwoRowsToALine) {
  const std::string text = Map({.range = "10.0.0.0/24"}, {.color = true, .utf8 = true});
  EXPECT_THAT(text, HasSubstr("▀▀▀"));
  EXPECT_THAT(text, HasSubstr("\x1b[38;5;196m"));
  EXPECT_THAT(text, Not(HasSubstr("10.0.0.64")));
  EXPECT_THAT(text, HasSubstr("10.0.0.128"));
}

TEST(MapTextTest, LargeRangesHaveLargeCells) {
  SmallCluster small;
  const inspect::Cluster cluster = small.Range("fd00:10:96::/64").Finish();
  const inspect::Census census(cluster);
  const auto views = MapViews(census, {.range = "fd00:10:96::/64"});
  const std::string text = MapText(census, views->front(), {.width = 80});
  EXPECT_THAT(text, HasSubstr("A cell is"));
  EXPECT_LE(Widest(text), 80U);
  const auto closer = MapViews(census, {.range = "fd00:10:96::/64", .at = "fd00:10:96::7"});
  EXPECT_THAT(MapText(census, closer->front(), {.width = 80}), HasSubstr("A cell is 1 address"));
}

TEST(MapTextTest, TheDocumentHasTheCells) {
  const inspect::Cluster cluster = Shop();
  const inspect::Census census(cluster);
  const codec::Value document =
      MapDocument(census, MapViews(census, {.range = "10.0.0.0/24"}).value());
  const codec::Value& map = document.Find("maps")->AsArray()->front();
  EXPECT_EQ(map.Find("cells")->AsArray()->size(), 256U);
  EXPECT_EQ((*map.Find("cells")->AsArray())[7].Find("mark")->AsString()->c_str(),
            std::string("twice"));
}

TEST(BlockersTextTest, NamesWhatIsInTheWay) {
  const std::string text = BlockersOf("10.0.0.0/24", "10.0.0.0/26");
  EXPECT_THAT(
      text,
      HasSubstr(
          "10.0.0.0/24   IPv4 addresses -> 10.0.0.0/26\n"
          "\n"
          "  1 Service with 1 address is in the way: 1 hard. 2 addresses of this range are in "
          "use.\n"
          "\n"
          "  NAMESPACE   OWNER   VALUE       MOVE   WHY\n"
          "  shop        web     10.0.0.99   hard   named by helm\n"
          "\n"
          "What to do\n"
          "  Named by a client (hard)\n"));
  EXPECT_THAT(text, HasSubstr("ServiceCIDR cannot be changed: create a ServiceCIDR with"));
  EXPECT_THAT(BlockersOf("10.0.0.0/24", "10.0.0.0/16"),
              AllOf(HasSubstr("No blockers\n"), HasSubstr("The change can be made now.")));
}

}  // namespace
}  // namespace berth::cli
