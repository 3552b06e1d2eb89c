#include "berth/serve/config_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <string>

#include "base/temp_dir.h"

namespace berth::cli {
namespace {

using FileSettings = std::map<std::string, std::string>;

class ConfigFileTest : public testing::Test {
 protected:
  base::Result<FileSettings> Read(const std::string& text) {
    std::ofstream(path_) << text;
    return ReadConfigFile(path_);
  }

  /// Returns the error without the file's name.
  std::string Problem(const std::string& text) {
    const auto settings = Read(text);
    if (settings) return "none";
    const std::string& message = settings.error().message;
    const std::string begin = "--config: " + path_;
    EXPECT_TRUE(message.starts_with(begin)) << message;
    return message.substr(std::min(begin.size(), message.size()));
  }

  const base::TempDir dir_;
  const std::string path_ = dir_.Path() + "/berth.yaml";
};

TEST_F(ConfigFileTest, YamlAndJsonAlike) {
  const FileSettings expected = {{"secure-port", "6443"}, {"bind-address", "::"}};
  EXPECT_EQ(Read("# ours\nsecure-port: 6443\nbind-address: '::'\n"), expected);
  EXPECT_EQ(Read(R"({"secure-port": 6443, "bind-address": "::"})"), expected);
}

TEST_F(ConfigFileTest, ListsAndMapsAsOnACommandLine) {
  EXPECT_EQ(Read("etcd-servers:\n- http://a:1\n- http://b:2\n"
                 "service-cluster-ip-range: [10.0.0.0/8]\n"
                 "feature-gates: {A: true, B: false}\n"),
            (FileSettings{{"etcd-servers", "http://a:1,http://b:2"},
                          {"service-cluster-ip-range", "10.0.0.0/8"},
                          {"feature-gates", "A=true,B=false"}}));
}

TEST_F(ConfigFileTest, AnEmptyFileSaysNothing) {
  EXPECT_EQ(Read(""), FileSettings());
  EXPECT_EQ(Read("# nothing yet\n"), FileSettings());
}

TEST_F(ConfigFileTest, WhatIsNotSettingsIsRefused) {
  const std::string not_settings =
      " must contain one setting per line, named like its flag (secure-port: 6443)";
  EXPECT_EQ(Problem("- secure-port\n"), not_settings);
  EXPECT_EQ(Problem("secure-port\n"), not_settings);
  const std::string not_text =
      ": secure-port must be a string, a whole number, or a list or map of them";
  EXPECT_EQ(Problem("secure-port: [[1]]\n"), not_text);
  EXPECT_EQ(Problem("secure-port: {a: [1]}\n"), not_text);
  EXPECT_EQ(Problem("secure-port: 1.5\n"), not_text);
  EXPECT_EQ(Problem("secure-port:\n"), not_text);
}

TEST_F(ConfigFileTest, ErrorsSayWhere) {
  EXPECT_EQ(Problem("secure-port: 1\nbind-address: '::'\nsecure-port: 2\n"),
            ": line 3: secure-port is set twice");
  EXPECT_EQ(Problem("secure-port: 1\n  bad\n: [\n").substr(0, 13), ": yaml: line ");
}

TEST_F(ConfigFileTest, AMissingFileIsNamed) {
  const auto settings = ReadConfigFile(path_ + ".not");
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "--config: cannot read " + path_ + ".not: No such file or directory");
}

}  // namespace
}  // namespace berth::cli
