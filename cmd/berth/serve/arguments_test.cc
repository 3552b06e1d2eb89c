#include "berth/serve/arguments.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace berth::cli {
namespace {

ServeSettings Settings(ServeArguments arguments) {
  if (arguments.data_dir.empty()) arguments.data_dir = "/data";
  auto settings = CheckArguments(arguments);
  EXPECT_TRUE(settings) << settings.error().message;
  return settings ? *std::move(settings) : ServeSettings();
}

std::string Problem(ServeArguments arguments) {
  if (arguments.data_dir.empty()) arguments.data_dir = "/data";
  const auto settings = CheckArguments(arguments);
  if (settings) return "none";
  EXPECT_EQ(settings.error().reason, base::Reason::kInvalid);
  return settings.error().message;
}

/// Sets or removes an environment variable, and restores it at the end.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* was = std::getenv(name)) was_ = was;
    Set(value);
  }
  ~Variable() { Set(was_ ? was_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void Set(const char* value) {
    if (value != nullptr) {
      setenv(name_, value, 1);
    } else {
      unsetenv(name_);
    }
  }
  const char* const name_;
  std::optional<std::string> was_;
};

TEST(ServeArgumentsTest, WithoutFlagsItIsForThisMachineAlone) {
  const ServeArguments arguments;
  EXPECT_EQ(arguments.bind_address, "127.0.0.1");
  EXPECT_EQ(arguments.secure_port, 6443);
  const ServeSettings settings = Settings(arguments);
  ASSERT_EQ(settings.service_ranges.size(), 1u);
  EXPECT_EQ(settings.service_ranges[0].ToString(), "10.96.0.0/16");
  EXPECT_EQ(settings.node_ports.ToString(), "30000-32767");
  EXPECT_TRUE(settings.gates.at("ClusterIPAllocatorAPI"));
}

TEST(ServeArgumentsTest, DataLiesBelowTheUsersDataDirectory) {
  {
    const Variable xdg("XDG_DATA_HOME", "/x/data");
    EXPECT_EQ(DefaultDataDir(), "/x/data/berth");
  }
  const Variable none("XDG_DATA_HOME", nullptr);
  {
    const Variable home("HOME", "/home/jane");
    EXPECT_EQ(DefaultDataDir(), "/home/jane/.local/share/berth");
  }
  const Variable homeless("HOME", nullptr);
  const auto path = DefaultDataDir();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().message,
            "there is no home directory for the data; choose a directory with --data-dir");
}

TEST(ServeArgumentsTest, TheDataDirectoryIsGoodFromEverywhere) {
  const std::string here = std::filesystem::current_path().string();
  EXPECT_EQ(Settings({.data_dir = "some/dir//"}).data_dir, here + "/some/dir");
  EXPECT_EQ(Settings({.data_dir = "./a/../b"}).data_dir, here + "/b");
  EXPECT_EQ(Settings({.data_dir = "/var/lib/berth/"}).data_dir, "/var/lib/berth");
}

TEST(ServeArgumentsTest, OneRangeOrOneOfEachFamily) {
  const auto ranges = [](const char* text) {
    std::string joined;
    for (const ip::Cidr& range : Settings({.service_cluster_ip_range = text}).service_ranges) {
      joined += range.ToString() + " ";
    }
    return joined;
  };
  EXPECT_EQ(ranges("10.0.0.7/24"), "10.0.0.0/24 ");
  EXPECT_EQ(ranges("fd00::/112,10.0.0.0/29"), "fd00::/112 10.0.0.0/29 ");
  const auto problem = [](const char* text) { return Problem({.service_cluster_ip_range = text}); };
  EXPECT_EQ(problem("ten"),
            "service-cluster-ip-range[0] is not a valid cidr: \"ten\", which should look like "
            "10.96.0.0/16 or fd00:10:96::/112");
  EXPECT_EQ(problem("10.0.0.0/8,"), "none");
  EXPECT_EQ(problem("10.0.0.0/8,\x1b"),
            "service-cluster-ip-range[1] is not a valid cidr: \"\\x1b\", which should look like "
            "10.96.0.0/16 or fd00:10:96::/112");
  EXPECT_EQ(problem(""), "--service-cluster-ip-range must contain at least one valid cidr");
  EXPECT_EQ(problem("10.0.0.0/8,fd00::/112,fd01::/112"),
            "--service-cluster-ip-range must not contain more than two entries");
  EXPECT_EQ(problem("10.0.0.0/16,10.1.0.0/16"),
            "--service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different "
            "IP family");
  EXPECT_EQ(problem("10.0.0.0/30"),
            "--service-cluster-ip-range: the service cluster IP range must be at least 8 IP "
            "addresses");
}

TEST(ServeArgumentsTest, AddressesPortsAndNumbersInTheirBounds) {
  EXPECT_EQ(Problem({.bind_address = "localhost"}),
            "invalid argument \"localhost\" for \"--bind-address\" flag: failed to parse IP: "
            "\"localhost\"");
  EXPECT_EQ(Problem({.bind_address = "::"}), "none");
  EXPECT_EQ(Problem({.secure_port = 0}), "none");
  EXPECT_EQ(Problem({.secure_port = 65536}),
            "--secure-port 65536 must be between 0 and 65535, inclusive");
  EXPECT_EQ(Problem({.service_node_port_range = "5-1"}),
            "invalid argument \"5-1\" for \"--service-node-port-range\" flag: end port cannot be "
            "less than start port: 5-1");
  EXPECT_EQ(Problem({.audit_log_maxsize = 0}), "--audit-log-maxsize 0 must be at least 1");
  EXPECT_EQ(Problem({.audit_log_maxbackup = -1}),
            "--audit-log-maxbackup -1 can't be a negative number");
  EXPECT_EQ(Problem({.max_requests_inflight = -1}),
            "--max-requests-inflight can not be negative value");
  EXPECT_EQ(Problem({.max_mutating_requests_inflight = -1}),
            "--max-mutating-requests-inflight can not be negative value");
  EXPECT_EQ(Problem({.auditor_interval = -1}),
            "--auditor-interval must be between 0 and 86400 (a day)");
  EXPECT_EQ(Problem({.history_bytes = 1}), "--history-bytes must be at least 1048576 (1 MiB)");
}

TEST(ServeArgumentsTest, ACertificateComesWithItsKey) {
  EXPECT_EQ(Problem({.tls_cert_file = "a"}),
            "--tls-cert-file and --tls-private-key-file must be given together");
  EXPECT_EQ(Problem({.tls_private_key_file = "a"}),
            "--tls-cert-file and --tls-private-key-file must be given together");
  EXPECT_EQ(Problem({.etcd_certfile = "a"}),
            "--etcd-certfile and --etcd-keyfile must be given together");
}

TEST(ServeArgumentsTest, Gates) {
  EXPECT_FALSE(ParseGates("IPv6DualStack=false")->at("IPv6DualStack"));
  EXPECT_TRUE(ParseGates("IPv6DualStack=false,IPv6DualStack=T,")->at("IPv6DualStack"));
  const auto problem = [](const char* text) { return ParseGates(text).error().message; };
  EXPECT_EQ(problem("IPv6DualStack"),
            "invalid argument \"IPv6DualStack\" for \"--feature-gates\" flag: missing bool value "
            "for IPv6DualStack");
  EXPECT_EQ(problem("IPv6DualStack=yes"),
            "invalid argument \"IPv6DualStack=yes\" for \"--feature-gates\" flag: invalid value of "
            "IPv6DualStack=yes, err: strconv.ParseBool: parsing \"yes\": invalid syntax");
  EXPECT_TRUE(problem("Nope=true")
                  .starts_with(
                      "invalid argument \"Nope=true\" for \"--feature-gates\" flag: "
                      "unrecognized feature gate: Nope; the known gates are ClusterIPAllocatorAPI"))
      << problem("Nope=true");
}

TEST(ServeArgumentsTest, BitmapsHoldOnlySoMuch) {
  const auto problem = [](const char* ranges) -> std::string {
    ServeArguments arguments;
    arguments.data_dir = "/tmp";
    arguments.service_cluster_ip_range = ranges;
    arguments.feature_gates = "ClusterIPAllocatorAPI=false";
    const auto settings = CheckArguments(arguments);
    return settings ? "" : settings.error().message;
  };
  EXPECT_EQ(problem("10.96.0.0/12,fd00::/108"), "");
  EXPECT_EQ(problem("10.0.0.0/11"),
            "specified --service-cluster-ip-range is too large; for 32-bit addresses, the mask "
            "must be >= 12");
  EXPECT_EQ(problem("10.96.0.0/16,fd00::/64"),
            "specified --service-cluster-ip-range[1] is too large; for 128-bit addresses, the mask "
            "must be >= 108");
}

TEST(ServeArgumentsTest, Numbers) {
  EXPECT_EQ(ParseFlagInt("--n", "-12"), -12);
  EXPECT_EQ(ParseFlagInt("--n", "6443"), 6443);
  const auto problem = [](const char* text) { return ParseFlagInt("--n", text).error().message; };
  EXPECT_EQ(problem(""),
            "invalid argument \"\" for \"--n\" flag: strconv.ParseInt: parsing \"\": invalid "
            "syntax");
  EXPECT_EQ(problem("1.5"),
            "invalid argument \"1.5\" for \"--n\" flag: strconv.ParseInt: parsing \"1.5\": invalid "
            "syntax");
  EXPECT_EQ(problem("9223372036854775808"),
            "invalid argument \"9223372036854775808\" for \"--n\" flag: strconv.ParseInt: parsing "
            "\"9223372036854775808\": value out of range");
}

}  // namespace
}  // namespace berth::cli
