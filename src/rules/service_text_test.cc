#include "rules/service_text.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "api/kinds.h"
#include "base/random.h"
#include "base/testing/base_kit.h"
#include "codec/encode.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

/// Returns the JSON of a Service as the snapshot keeps it, without managed fields.
std::string TextOf(const codec::Value& service) {
  const auto wire = codec::EncodeJson(service, *api::kServiceKind.message,
                                      {.api_version = "v1", .kind = "Service"});
  std::string text = wire.text;
  return text.erase(wire.managed_at, wire.managed_size);
}

TEST(ServiceText, ReadsWhatAServiceHolds) {
  const codec::Value service = Json(
      "{'metadata':{'name':'a'},'spec':{'type':'LoadBalancer','clusterIP':'10.0.0.1',"
      "'clusterIPs':['10.0.0.1','fd00::1'],'externalTrafficPolicy':'Local',"
      "'healthCheckNodePort':30003,'ports':[{'port':80,'nodePort':30002},"
      "{'port':81,'nodePort':30001}]}}");
  const auto held = HoldingsInText(TextOf(service));
  ASSERT_TRUE(held);
  EXPECT_EQ(held->addresses.size(), 2u);
  EXPECT_EQ(held->ports, (std::vector<uint16_t>{30001, 30002, 30003}));
  EXPECT_EQ(*held, HoldingsOf(service));
}

TEST(ServiceText, WordsElsewhereMeanNothing) {
  const codec::Value service = Json(
      "{'metadata':{'name':'a','labels':{'spec':'x','clusterIP':'None','nodePort':'30005'},"
      "'annotations':{'type':'ExternalName','clusterIPs':'[10.0.0.9]'}},"
      "'spec':{'type':'NodePort','clusterIP':'10.0.0.1','clusterIPs':['10.0.0.1'],"
      "'selector':{'clusterIP':'None','type':'ExternalName','ports':'1'},"
      "'ports':[{'name':'nodePort','port':80,'nodePort':30002}]}}");
  const auto held = HoldingsInText(TextOf(service));
  ASSERT_TRUE(held);
  EXPECT_EQ(*held, HoldingsOf(service));
  EXPECT_EQ(held->ports, (std::vector<uint16_t>{30002}));
}

TEST(ServiceText, TheTextFromTheSpecOnIsEqualIfOnlyMetadataDiffers) {
  const std::string spec = "'spec':{'clusterIPs':['10.0.0.1'],'ports':[{'port':80}]}}";
  const std::string a = TextOf(Json("{'metadata':{'name':'a','labels':{'x':'1'}}," + spec));
  const std::string b = TextOf(Json("{'metadata':{'name':'a','labels':{'x':'2'}}," + spec));
  EXPECT_FALSE(TextFromSpec(a).empty());
  EXPECT_EQ(TextFromSpec(a), TextFromSpec(b));
  EXPECT_TRUE(TextFromSpec("{}").empty());
}

/// Makes Services of all sorts, valid or not, with the words that are searched for in places where
/// they mean something else.
class RandomServices {
 public:
  explicit RandomServices(uint64_t seed) : random_(seed) {}

  codec::Value Next() {
    codec::Object metadata{{"name", "a"}, {"namespace", "n"}};
    if (Chance(50)) metadata.Set("labels", Words());
    if (Chance(50)) metadata.Set("annotations", Words());
    if (Chance(30)) {
      metadata.Set(
          "managedFields",
          codec::Array{Json("{'manager':'m','fieldsType':'FieldsV1','fieldsV1':"
                            "{'f:spec':{'f:clusterIPs':{},'f:ports':{'f:nodePort':{}}}}}")});
    }
    return codec::Object{{"metadata", std::move(metadata)}, {"spec", Spec()}, {"status", Status()}};
  }

 private:
  bool Chance(uint64_t percent) { return base::Uniform(random_, 100) < percent; }
  template <size_t N>
  std::string OneOf(const std::array<const char*, N>& texts) {
    return texts[base::Uniform(random_, N)];
  }

  std::string Word() {
    constexpr std::array kWords = {"spec",
                                   "clusterIP",
                                   "clusterIPs",
                                   "nodePort",
                                   "type",
                                   "None",
                                   "ExternalName",
                                   "10.0.0.1",
                                   "30001",
                                   "a\\b",
                                   "\"spec\":{\"clusterIPs\":[\"10.0.0.9\"]}",
                                   "\"nodePort\":30009",
                                   "{[",
                                   "]}",
                                   "<&>",
                                   "ü",
                                   ""};
    return OneOf(kWords);
  }
  codec::Object Words() {
    codec::Object words;
    for (uint64_t count = base::Uniform(random_, 4); count > 0; --count) words.Set(Word(), Word());
    return words;
  }
  std::string Address() {
    constexpr std::array kAddresses = {"10.0.0.1", "10.0.0.2", "010.0.0.1", "fd00::1", "FD00::1",
                                       "None",     "",         "x\"y",      "not"};
    return OneOf(kAddresses);
  }
  int64_t Port() {
    constexpr std::array<int64_t, 8> kPorts = {0, -1, 1, 30001, 30002, 30001, 65535, 65536};
    return kPorts[base::Uniform(random_, kPorts.size())];
  }

  codec::Object Spec() {
    codec::Object spec;
    constexpr std::array kTypes = {"ClusterIP", "NodePort", "LoadBalancer", "ExternalName", "Odd"};
    if (Chance(90)) spec.Set("type", OneOf(kTypes));
    if (Chance(80)) spec.Set("clusterIP", Address());
    if (Chance(80)) {
      codec::Array ips;
      for (uint64_t count = base::Uniform(random_, 4); count > 0; --count) {
        ips.emplace_back(Address());
      }
      spec.Set("clusterIPs", std::move(ips));
    }
    if (Chance(80)) {
      codec::Array ports;
      for (uint64_t count = base::Uniform(random_, 4); count > 0; --count) {
        codec::Object port{{"name", Word()}, {"port", Port()}};
        if (Chance(80)) port.Set("nodePort", Port());
        if (Chance(30)) port.Set("appProtocol", Word());
        ports.emplace_back(std::move(port));
      }
      spec.Set("ports", std::move(ports));
    }
    if (Chance(50)) spec.Set("selector", Words());
    if (Chance(50)) spec.Set("externalTrafficPolicy", Chance(70) ? "Local" : "Cluster");
    if (Chance(50)) spec.Set("healthCheckNodePort", Port());
    if (Chance(20)) spec.Set("externalIPs", codec::Array{"10.0.0.7"});
    if (Chance(20)) spec.Set("externalName", Word());
    return spec;
  }
  codec::Object Status() {
    if (Chance(50)) return {};
    return {
        {"loadBalancer",
         codec::Object{{"ingress", codec::Array{codec::Object{{"ip", "10.0.0.8"}}}}}},
        {"conditions", codec::Array{codec::Object{
                           {"type", "ExternalName"}, {"status", "True"}, {"message", Word()}}}}};
  }

  base::SeededRandom random_;
};

TEST(ServiceText, SaysTheSameAsTheDecodedService) {
  const uint64_t seed = base::TestSeed(1);
  SCOPED_TRACE(seed);
  RandomServices services(seed);
  const int64_t count = base::LongCount(200'000);
  int64_t read = 0;
  for (int64_t i = 0; i < count; ++i) {
    const codec::Value service = services.Next();
    const std::string text = TextOf(service);
    const auto held = HoldingsInText(text);
    if (!held) continue;
    ++read;
    ASSERT_EQ(*held, HoldingsOf(service)) << text;
  }
  EXPECT_GT(read, count / 2) << "most are read without decoding, also with odd addresses";
}

TEST(ServiceText, TextThatIsCutOffOrChangedIsNoTrouble) {
  RandomServices services(base::TestSeed(2));
  base::SeededRandom random(3);
  for (int i = 0; i < 200; ++i) {
    const std::string whole = TextOf(services.Next());
    for (size_t size = 0; size < whole.size(); ++size) HoldingsInText(whole.substr(0, size));
    for (int change = 0; change < 50; ++change) {
      std::string changed = whole;
      changed[base::Uniform(random, changed.size())] = "\"{}[],:\\0"[base::Uniform(random, 9)];
      HoldingsInText(changed);
    }
  }
}

}  // namespace
}  // namespace berth::rules
