#include "berth/serve/credentials.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "base/temp_dir.h"
#include "codec/yaml_read.h"
#include "http/certificates.h"

namespace berth::cli {
namespace {

using std::chrono::hours;

constexpr base::WallTime kNow{std::chrono::seconds(1'800'000'000)};

std::string Content(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

bool Has(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

class CredentialsTest : public testing::Test {
 protected:
  Credentials Prepare() {
    auto credentials = PrepareCredentials(request_, clock_, log_);
    EXPECT_TRUE(credentials) << credentials.error().message;
    return credentials ? *std::move(credentials) : Credentials();
  }
  std::string Problem() {
    const auto credentials = PrepareCredentials(request_, clock_, log_);
    return credentials ? "none" : credentials.error().message;
  }
  std::string Pki(const std::string& name) const { return dir_.Path() + "/data/pki/" + name; }
  std::string Write(const std::string& name, const std::string& content) const {
    std::ofstream(dir_.Path() + "/" + name) << content;
    return dir_.Path() + "/" + name;
  }

  const base::TempDir dir_;
  base::ManualClock clock_{kNow};
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
  CredentialRequest request_{.data_dir = dir_.Path() + "/data", .address = "127.0.0.1"};
};

TEST_F(CredentialsTest, TheFirstStartMakesAllOfThem) {
  request_.more_ips = {"10.96.0.1"};
  const Credentials credentials = Prepare();
  const auto serving = http::ReadCertificate(credentials.tls.certificate_pem);
  ASSERT_TRUE(serving);
  for (const char* name : {"localhost", "kubernetes", "kubernetes.default",
                           "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"}) {
    EXPECT_TRUE(Has(serving->dns, name)) << name;
  }
  for (const char* ip : {"127.0.0.1", "::1", "10.96.0.1"}) {
    EXPECT_TRUE(Has(serving->ips, ip)) << ip;
  }
  EXPECT_FALSE(serving->is_authority);
  const auto admin = http::ReadCertificate(Content(Pki("admin.crt")));
  ASSERT_TRUE(admin);
  EXPECT_EQ(admin->common_name, "kubernetes-admin");
  EXPECT_EQ(admin->organizations, std::vector<std::string>{"system:masters"});
  EXPECT_EQ(credentials.tls.client_ca_pem, Content(Pki("ca.crt")));
  EXPECT_TRUE(http::ReadCertificate(Content(Pki("ca.crt")))->is_authority);
}

TEST_F(CredentialsTest, OnlyTheOwnerCanReadThem) {
  const Credentials credentials = Prepare();
  for (const std::string& path :
       {Pki("ca.key"), Pki("serving.key"), Pki("admin.key"), credentials.kubeconfig}) {
    struct stat status{};
    ASSERT_EQ(stat(path.c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_mode & 0777, 0600u) << path;
  }
}

TEST_F(CredentialsTest, TheNextStartKeepsThem) {
  const Credentials first = Prepare();
  const std::string kubeconfig = Content(first.kubeconfig);
  clock_.Advance(hours(24));
  const Credentials second = Prepare();
  EXPECT_EQ(second.tls.certificate_pem, first.tls.certificate_pem);
  EXPECT_EQ(second.tls.key_pem, first.tls.key_pem);
  EXPECT_EQ(Content(second.kubeconfig), kubeconfig);
}

TEST_F(CredentialsTest, ANewNameNeedsANewServingCertificateAndNothingElse) {
  const Credentials first = Prepare();
  const std::string admin = Content(Pki("admin.crt"));
  request_.address = "192.0.2.7";
  const Credentials second = Prepare();
  EXPECT_NE(second.tls.certificate_pem, first.tls.certificate_pem);
  EXPECT_TRUE(Has(http::ReadCertificate(second.tls.certificate_pem)->ips, "192.0.2.7"));
  EXPECT_EQ(second.tls.client_ca_pem, first.tls.client_ca_pem);
  EXPECT_EQ(Content(Pki("admin.crt")), admin);
}

TEST_F(CredentialsTest, CertificatesAreRenewedBeforeTheyEnd) {
  const Credentials first = Prepare();
  const std::string admin = Content(Pki("admin.crt"));
  clock_.Advance(hours(24 * 334));
  EXPECT_EQ(Prepare().tls.certificate_pem, first.tls.certificate_pem);
  clock_.Advance(hours(24 * 2));
  const Credentials later = Prepare();
  EXPECT_NE(later.tls.certificate_pem, first.tls.certificate_pem);
  EXPECT_NE(Content(Pki("admin.crt")), admin);
  EXPECT_EQ(later.tls.client_ca_pem, first.tls.client_ca_pem);
  EXPECT_EQ(http::StillValid(later.tls.certificate_pem, clock_.Now(), hours(24 * 364)), true);
}

TEST_F(CredentialsTest, TheKubeconfigNamesTheServer) {
  request_.address = "fd00::1";
  request_.port = 7443;
  const auto document = codec::ParseYaml(Content(Prepare().kubeconfig));
  ASSERT_TRUE(document);
  const codec::Value& cluster =
      *document->value.AsObject()->Find("clusters")->AsArray()->front().AsObject()->Find("cluster");
  EXPECT_EQ(*cluster.AsObject()->Find("server")->AsString(), "https://[fd00::1]:7443");
  EXPECT_NE(cluster.AsObject()->Find("certificate-authority-data"), nullptr);
}

TEST_F(CredentialsTest, OwnCertificatesAreUsedAsTheyAre) {
  const auto authority = http::MakeAuthority("theirs", {.from = kNow});
  const auto serving =
      http::MakeServing(*authority, {.common_name = "api", .dns = {"api.example"}}, {.from = kNow});
  ASSERT_TRUE(serving) << serving.error().message;
  request_.tls_cert_file = Write("tls.crt", serving->certificate_pem);
  request_.tls_private_key_file = Write("tls.key", serving->key_pem);
  request_.client_ca_file = Write("clients.crt", authority->certificate_pem);
  const Credentials credentials = Prepare();
  EXPECT_EQ(credentials.tls.certificate_pem, serving->certificate_pem);
  EXPECT_EQ(credentials.tls.key_pem, serving->key_pem);
  EXPECT_EQ(credentials.tls.client_ca_pem, Content(Pki("ca.crt")) + authority->certificate_pem);
  // The CA of this certificate is not known here, so clients use their own CAs.
  EXPECT_EQ(Content(credentials.kubeconfig).find("certificate-authority-data"), std::string::npos);
}

TEST_F(CredentialsTest, NothingIsMadeWhenOwnFilesAreNotRight) {
  request_.client_ca_file = Write("clients.crt", "not a certificate");
  EXPECT_EQ(Problem(), "--client-ca-file: " + request_.client_ca_file +
                           " does not contain certificates in PEM format");
  request_.client_ca_file.clear();
  request_.tls_cert_file = dir_.Path() + "/none.crt";
  request_.tls_private_key_file = dir_.Path() + "/none.key";
  EXPECT_EQ(Problem(), "--tls-cert-file: cannot read " + request_.tls_cert_file +
                           ": No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(dir_.Path() + "/data"));
}

TEST_F(CredentialsTest, AKeyThatIsGoneIsNotMadeAnewInSilence) {
  Prepare();
  std::filesystem::remove(Pki("ca.key"));
  EXPECT_EQ(Problem(), "--data-dir: cannot read " + Pki("ca.key") + ": No such file or directory");
}

}  // namespace
}  // namespace berth::cli
