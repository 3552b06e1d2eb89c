#include "berth/store/address.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace berth::cli {
namespace {

TEST(AddressTest, NamesADirectoryOrEtcd) {
  const auto embedded = ParseAddress("embedded:/var/lib/berth:1");
  ASSERT_TRUE(embedded.has_value());
  EXPECT_TRUE(embedded->IsEmbedded());
  EXPECT_EQ(embedded->directory, "/var/lib/berth:1");
  const auto etcd = ParseAddress("etcd:https://10.0.0.5:2379,http://[fd00::1]:2379");
  ASSERT_TRUE(etcd.has_value());
  EXPECT_FALSE(etcd->IsEmbedded());
  EXPECT_EQ(etcd->endpoints,
            (std::vector<std::string>{"https://10.0.0.5:2379", "http://[fd00::1]:2379"}));
  for (const auto& address : {*embedded, *etcd}) EXPECT_EQ(ParseAddress(address.Text()), address);
}

TEST(AddressTest, SaysWhatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"", "must be embedded:DIR or etcd:URL"},
      {"/var/lib/berth", "must be embedded:DIR or etcd:URL"},
      {"embedded:", "a directory is missing"},
      {"etcd:", "a URL is missing"},
      {"etcd:10.0.0.5", "\"10.0.0.5\" must begin with https:// or http://"},
      {"etcd:http://a,,http://b", "\"\" must begin with"},
      {"etcd:http://a,\x1b[2J", "\"\\x1b[2J\" must begin with"},
  };
  for (const auto& [text, wanted] : rows) {
    const auto address = ParseAddress(text);
    ASSERT_FALSE(address.has_value()) << text;
    EXPECT_NE(address.error().message.find(wanted), std::string::npos) << address.error().message;
  }
}

}  // namespace
}  // namespace berth::cli
