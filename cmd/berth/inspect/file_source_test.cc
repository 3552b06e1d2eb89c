#include "berth/inspect/file_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/temp_dir.h"

namespace berth::cli {
namespace {

using testing::HasSubstr;

class FileSourceTest : public testing::Test {
 protected:
  std::string File(const std::string& name, const std::string& text) {
    const std::string path = dir_.Path() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

  /// Returns the names of the Services in the files, or the error.
  std::string Names(const std::vector<std::string>& files) {
    inspect::ClusterReader reader({});
    if (const auto read = ReadClusterFiles(files, reader); !read) return read.error().message;
    std::string names;
    for (const inspect::Service& service : std::move(reader).Finish().services) {
      names += service.object.name_space + "/" + service.object.name + " ";
    }
    return names;
  }

  const base::TempDir dir_;
};

constexpr const char* kOne = R"({"apiVersion":"v1","kind":"Service",
  "metadata":{"namespace":"a","name":"one \"]}"},"spec":{"clusterIP":"10.96.0.1"}})";
constexpr const char* kTwo = R"({"apiVersion":"v1","kind":"Service",
  "metadata":{"namespace":"b","name":"two"},"spec":{"clusterIP":"10.96.0.2"}})";

TEST_F(FileSourceTest, EveryFormOfAListIsRead) {
  const std::string both = std::string(kOne) + ",\n" + kTwo;
  const std::string expected = "a/one \"]} b/two ";
  EXPECT_EQ(
      Names({File("list", R"({"kind":"List","apiVersion":"v1","metadata":{"x":[{}]},"items":[)" +
                              both + "]}")}),
      expected);
  EXPECT_EQ(Names({File("array", "[" + both + "]")}), expected);
  EXPECT_EQ(Names({File("stream", std::string(kOne) + "\n" + kTwo + "\n")}), expected);
  EXPECT_EQ(Names({File("one", kOne), File("two", kTwo)}), expected);
  EXPECT_EQ(Names({File("yaml",
                        "# two documents\napiVersion: v1\nkind: Service\nmetadata: {namespace: "
                        "a, name: 'one \"]}'}\n--- # next\napiVersion: v1\nkind: List\n"
                        "items:\n- apiVersion: v1\n  kind: Service\n  metadata: {namespace: "
                        "b, name: two}\n---\n")}),
            expected);
}

// kubectl get --raw /api/v1/services prints such a list, and jq -S orders its keys.
TEST_F(FileSourceTest, ItemsOfTypedListsHaveTheKindOfTheList) {
  const std::string items = R"([{"metadata":{"namespace":"a","name":"x"}},
      {"metadata":{"namespace":"a","name":"y"}}])";
  for (const std::string& text :
       {R"({"kind":"ServiceList","apiVersion":"v1","metadata":{},"items":)" + items + "}",
        R"({"apiVersion":"v1","items":)" + items + R"(,"kind":"ServiceList"})",
        "apiVersion: v1\nkind: ServiceList\nitems: " + items}) {
    EXPECT_EQ(Names({File("list", text)}), "a/x a/y ") << text;
  }
  EXPECT_THAT(
      Names({File("pods", R"({"kind":"PodList","apiVersion":"v1","items":)" + items + "}")}),
      HasSubstr("it holds no Service"));
}

TEST_F(FileSourceTest, ErrorsNameTheFileAndTheLine) {
  EXPECT_THAT(Names({"/does/not/exist"}), HasSubstr("/does/not/exist"));
  EXPECT_THAT(Names({File("cut", R"({"items":[{"kind":)")}),
              HasSubstr("/cut: not a complete JSON"));
  EXPECT_THAT(Names({File("bad", "[" + std::string(kOne) + ",\n\n{\"a\":tru}]")}),
              HasSubstr("/bad: the object at line 4 cannot be read"));
  EXPECT_THAT(Names({File("yaml", "a: 1\n---\nb: [\n")}),
              HasSubstr("/yaml: the document at line 2 cannot be read"));
  EXPECT_THAT(Names({File("none", R"({"kind":"Pod","apiVersion":"v1"})")}),
              HasSubstr("/none: it holds no Service"));
  EXPECT_THAT(Names({File("binary", std::string("\0\xff\x01{", 4))}), HasSubstr("/binary: "));
}

TEST_F(FileSourceTest, RecordsInTheFilesCount) {
  const auto keeps = [this](const std::string& text) {
    inspect::ClusterReader reader({});
    EXPECT_TRUE(ReadClusterFiles({File("records", text)}, reader).has_value());
    return std::move(reader).Finish().keeps;
  };
  const std::string plain = R"({"apiVersion":"networking.k8s.io/v1","kind":"IPAddress",
      "metadata":{"name":"10.96.0.1"}})";
  const std::string own = R"({"apiVersion":"allocation.berth.io/v1alpha1","kind":"IPAddress",
      "metadata":{"name":"174063617"},"spec":{"address":"10.96.0.1"}})";
  const std::string port = R"({"apiVersion":"allocation.berth.io/v1alpha1","kind":"NodePort",
      "metadata":{"name":"30080"}})";
  EXPECT_EQ(keeps(kOne), audit::Keeps::kNothing);
  EXPECT_EQ(keeps(kOne + plain), audit::Keeps::kAddressesOnly);
  EXPECT_EQ(keeps(kOne + own), audit::Keeps::kAddressesOnly) << "ports need no records then";
  EXPECT_EQ(keeps(kOne + own + port), audit::Keeps::kRecords);
  EXPECT_EQ(keeps(kOne + port), audit::Keeps::kNothing) << "addresses need no records then";
}

}  // namespace
}  // namespace berth::cli
