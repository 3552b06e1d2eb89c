#include "kube/find_access.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/base64.h"
#include "kube/testing/kube_kit.h"

namespace berth::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

/// Returns a kubeconfig with one context "here", whose cluster and user have these fields.
std::string OneContext(const std::string& cluster, const std::string& user) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
      "contexts:\n- name: here\n  context: {{cluster: c, user: u, namespace: web}}\n"
      "clusters:\n- name: c\n  cluster: {}\nusers:\n- name: u\n  user: {}\n",
      cluster, user);
}

class FindAccessTest : public ::testing::Test {
 protected:
  base::Result<Access> Find() { return FindAccess(options, machine.Around()); }

  base::Result<Access> FindIn(const std::string& cluster, const std::string& user = "{}") {
    machine.files["/home/jane/.kube/config"] = OneContext(cluster, user);
    return Find();
  }

  std::string Failure() {
    const auto access = Find();
    return access ? "no error: " + access->url : access.error().message;
  }

  std::string FailureIn(const std::string& cluster, const std::string& user = "{}") {
    machine.files["/home/jane/.kube/config"] = OneContext(cluster, user);
    return Failure();
  }

  std::string FailureOf(const std::string& text) {
    machine.files["/home/jane/.kube/config"] = text;
    return Failure();
  }

  static std::string Pem() { return base::Base64(kTestPem); }

  TestMachine machine;
  AccessOptions options;
};

// --- which files ---------------------------------------------------------------------------------

TEST_F(FindAccessTest, ReadsTheFileInTheHomeFolder) {
  const auto access = FindIn("{server: 'https://10.0.0.5:6443/k8s'}", "{token: secret}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->url, "https://10.0.0.5:6443/k8s");
  EXPECT_EQ(access->origin, "context \"here\" of /home/jane/.kube/config");
  EXPECT_EQ(access->client.host, "10.0.0.5");
  EXPECT_EQ(access->client.port, 6443);
  EXPECT_EQ(access->path_prefix, "/k8s");
  EXPECT_EQ(access->name_space, "web");
  EXPECT_EQ(access->client.tls->ca_pem, "");
  EXPECT_TRUE(access->client.tls->verify);
  EXPECT_EQ(access->client.proxy_url, "");
  EXPECT_EQ(access->request_timeout.count(), 0);
  EXPECT_EQ(access->credentials->Get()->token, "secret");
}

TEST_F(FindAccessTest, AnExplicitFileCountsAlone) {
  machine.variables["KUBECONFIG"] = "/env";
  machine.files["/env"] = OneContext("{server: 'https://env'}", "{}");
  machine.files["/home/jane/.kube/config"] = OneContext("{server: 'https://home'}", "{}");
  machine.files["/flag"] = OneContext("{server: 'https://flag'}", "{}");
  EXPECT_EQ(Find()->url, "https://env");
  options.kubeconfig = "/flag";
  EXPECT_EQ(Find()->url, "https://flag");
  options.kubeconfig = "/none";
  EXPECT_EQ(Failure(), "--kubeconfig: cannot read /none: No such file or directory");
  machine.files["/blank"] = "";
  options.kubeconfig = "/blank";
  EXPECT_EQ(Failure(), "the kubeconfig /blank is empty");
}

TEST_F(FindAccessTest, MergesSeveralFiles) {
  machine.variables["KUBECONFIG"] = "/none:/a/one::/b/two:/a/one";
  machine.files["/a/one"] =
      "contexts:\n- {name: x, context: {cluster: red, user: red}}\n"
      "clusters:\n- {name: red, cluster: {server: 'https://one'}}\n";
  machine.files["/b/two"] =
      "current-context: x\n"
      "contexts:\n- {name: x, context: {cluster: blue, user: blue}}\n"
      "- {name: z, context: {cluster: blue, user: red}}\n"
      "clusters:\n- {name: red, cluster: {server: 'https://two', tls-server-name: two}}\n"
      "- {name: blue, cluster: {server: 'https://blue', certificate-authority: ca.pem}}\n"
      "users:\n- {name: red, user: {tokenFile: ../token}}\n";
  machine.files["/b/ca.pem"] = kTestPem;
  machine.files["/b/../token"] = "from-file";
  const auto access = Find();
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->url, "https://one") << "the first file that has an entry counts";
  EXPECT_EQ(access->client.tls->server_name, "") << "and counts alone";
  EXPECT_EQ(access->origin, "context \"x\" of /a/one");
  EXPECT_EQ(access->credentials->Get()->token, "from-file");
  options.context = "z";
  EXPECT_EQ(Find()->client.tls->ca_pem, kTestPem) << "paths start in the folder of their file";
}

TEST_F(FindAccessTest, TheFirstFileThatSetsTheCurrentContextCounts) {
  machine.variables["KUBECONFIG"] = "/one:/two:/three";
  machine.files["/one"] = "clusters:\n- {name: c, cluster: {server: 'https://c'}}\n";
  machine.files["/two"] = "current-context: b\n";
  machine.files["/three"] =
      "current-context: a\ncontexts:\n- {name: a, context: {cluster: c}}\n"
      "- {name: b, context: {cluster: c}}\n";
  EXPECT_EQ(Find()->origin, "context \"b\" of /three");
}

TEST_F(FindAccessTest, PathsOfARelativeFileAreRelativeToo) {
  options.kubeconfig = "config";
  machine.files["config"] = OneContext("{server: 'https://a', certificate-authority: ca}", "{}");
  machine.files["ca"] = kTestPem;
  EXPECT_TRUE(Find());
}

TEST_F(FindAccessTest, UsesTheServiceAccountOfAPod) {
  machine.variables["KUBERNETES_SERVICE_HOST"] = "10.96.0.1";
  machine.variables["KUBERNETES_SERVICE_PORT"] = "443";
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
  EXPECT_THAT(Failure(), HasSubstr("does not run in a pod"));
  machine.files[folder + "token"] = "first";
  machine.files[folder + "ca.crt"] = kTestPem;
  machine.files[folder + "namespace"] = "tools\n";
  const auto access = Find();
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->url, "https://10.96.0.1:443");
  EXPECT_EQ(access->origin, "the service account of this pod");
  EXPECT_EQ(access->client.tls->ca_pem, kTestPem);
  EXPECT_EQ(access->name_space, "tools");
  EXPECT_EQ(access->credentials->Get()->token, "first");
  machine.files[folder + "token"] = "rotated";
  machine.clock.Advance(std::chrono::minutes(1));
  EXPECT_EQ(access->credentials->Get()->token, "rotated");

  machine.variables["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(Find()->client.host, "fd00::1");
  machine.files["/home/jane/.kube/config"] = OneContext("{server: 'https://home'}", "{}");
  EXPECT_EQ(Find()->url, "https://home") << "a kubeconfig counts first";
}

TEST_F(FindAccessTest, SaysWhatToDoIfThereIsNoCluster) {
  const std::string advice =
      ", and this program does not run in a pod; name a kubeconfig with --kubeconfig or "
      "$KUBECONFIG, or a server with --server";
  EXPECT_EQ(Failure(),
            "no cluster is known: $KUBECONFIG is not set, /home/jane/.kube/config does "
            "not exist" +
                advice);
  EXPECT_EQ(
      FailureOf("apiVersion: v1\nkind: Config\ncontexts: null\n"),
      "no cluster is known: $KUBECONFIG is not set, /home/jane/.kube/config is empty" + advice);
  machine.variables = {{"KUBECONFIG", "/a:/b"}};
  EXPECT_EQ(Failure(), "no cluster is known: /a, /b of $KUBECONFIG do not exist" + advice);
  machine.files["/b"] = "";
  EXPECT_EQ(Failure(),
            "no cluster is known: /a of $KUBECONFIG does not exist, /b is empty" + advice);
  machine.variables.clear();
  EXPECT_EQ(Failure(), "no cluster is known: $KUBECONFIG and $HOME are not set" + advice);
}

// --- clusters ------------------------------------------------------------------------------------

TEST_F(FindAccessTest, ReadsTheFieldsOfACluster) {
  machine.files["/home/jane/.kube/ca.pem"] = kTestPem;
  EXPECT_EQ(FindIn("{server: 'https://a', certificate-authority: ca.pem}")->client.tls->ca_pem,
            kTestPem);
  EXPECT_EQ(FindIn(fmt::format("{{server: 'https://a', certificate-authority: /none, "
                               "certificate-authority-data: {}}}",
                               Pem()))
                ->client.tls->ca_pem,
            kTestPem)
      << "data counts before the file";
  const std::string folded = Pem().insert(10, "\\n");
  EXPECT_EQ(
      FindIn(fmt::format("{{server: 'https://a', certificate-authority-data: \"{}\"}}", folded))
          ->client.tls->ca_pem,
      kTestPem);
  EXPECT_FALSE(FindIn("{server: 'https://a', insecure-skip-tls-verify: true}")->client.tls->verify);
  const auto named = FindIn("{server: 'https://a', tls-server-name: b}");
  EXPECT_EQ(named->client.tls->server_name, "b");
  EXPECT_EQ(named->client.tls->name_advice,
            "if it is the right server, set tls-server-name of cluster \"c\" in "
            "/home/jane/.kube/config, line 8 to one of these names");
  EXPECT_EQ(FindIn("{server: 'https://a', proxy-url: 'socks5://p:1'}")->client.proxy_url,
            "socks5://p:1");
  EXPECT_TRUE(
      FindIn("{server: 'https://a', disable-compression: true, later: 5, "
             "extensions: [{name: x, extension: {y: z}}]}"))
      << "fields that are not known are ignored";
  EXPECT_TRUE(FindIn("{server: 'https://a'}")->client.gzip);
  EXPECT_FALSE(FindIn("{server: 'https://a', disable-compression: true}")->client.gzip);
  EXPECT_FALSE(FindIn("{server: 'https://127.0.0.1:6443'}")->client.gzip);
  const auto v6 = FindIn("{server: 'https://[fd00::1]'}");
  EXPECT_EQ(v6->client.host, "fd00::1");
  EXPECT_EQ(v6->client.port, 443);
}

TEST_F(FindAccessTest, SendsNoCredentialsOverPlainHttp) {
  const auto access = FindIn("{server: 'http://127.0.0.1:8001'}", "{token: t, as: joe}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_FALSE(access->client.tls);
  EXPECT_EQ(access->client.port, 8001);
  EXPECT_EQ(access->credentials, nullptr);
  EXPECT_THAT(access->headers, ElementsAre(Pair("Impersonate-User", "joe")));
}

TEST_F(FindAccessTest, GoesThroughTheProxyOfTheEnvironment) {
  machine.variables["HTTPS_PROXY"] = "http://env:3128";
  machine.variables["NO_PROXY"] = ".internal";
  EXPECT_EQ(FindIn("{server: 'https://a'}")->client.proxy_url, "http://env:3128");
  EXPECT_EQ(FindIn("{server: 'https://a.internal'}")->client.proxy_url, "");
  EXPECT_EQ(FindIn("{server: 'https://a', proxy-url: 'http://own'}")->client.proxy_url,
            "http://own");
  EXPECT_EQ(FindIn("{server: 'https://a.internal', proxy-url: 'http://own'}")->client.proxy_url,
            "http://own")
      << "NO_PROXY is about the environment";
}

TEST_F(FindAccessTest, SaysWhatIsWrongWithACluster) {
  const std::string who = "cluster \"c\" in /home/jane/.kube/config, line 8: ";
  EXPECT_EQ(FailureIn("{}"), who + "it has no server");
  EXPECT_EQ(FailureIn("{server: 7}"), who + "server is not a text; put it into quotes");
  EXPECT_EQ(FailureIn("{server: 'ftp://a'}"),
            who + "the server \"ftp://a\" does not begin with https:// or http://");
  EXPECT_EQ(FailureIn("{server: 'https://a', insecure-skip-tls-verify: 'yes'}"),
            who + "insecure-skip-tls-verify is neither true nor false");
  EXPECT_EQ(FailureIn("{server: 'https://a', certificate-authority-data: 'ab*c'}"),
            who + "certificate-authority-data is not base64: character 3 is wrong");
  EXPECT_EQ(FailureIn("{server: 'https://a', certificate-authority-data: YWJj}"),
            who +
                "certificate-authority-data does not contain PEM (a block that begins with "
                "-----BEGIN)");
  EXPECT_EQ(FailureIn("{server: 'https://a', certificate-authority: ca}"),
            who +
                "certificate-authority: cannot read /home/jane/.kube/ca: No such file or "
                "directory");
  EXPECT_EQ(FailureIn("{server: 'https://a', certificate-authority: /ca, "
                      "insecure-skip-tls-verify: true}"),
            who +
                "it has insecure-skip-tls-verify and also a certificate-authority; remove one of "
                "them");
  EXPECT_EQ(FailureIn("{server: 'https://a', proxy-url: 'user:secret@p'}"),
            who + "its proxy-url does not begin with http://, https:// or socks5://");
  EXPECT_EQ(FailureIn("{server: 'https://a', extensions: x}"), who + "extensions is not a list");
}

// --- users ---------------------------------------------------------------------------------------

TEST_F(FindAccessTest, ReadsTheFieldsOfAUser) {
  const auto identity = [&](const std::string& user) {
    const auto access = FindIn("{server: 'https://a'}", user);
    EXPECT_TRUE(access) << access.error().message;
    const auto got = access->credentials->Get();
    EXPECT_TRUE(got) << got.error().message;
    return *got;
  };
  const std::string pem = kTestPem;
  machine.files["/home/jane/.kube/pem"] = pem;
  machine.files["/home/jane/.kube/token"] = "file\n";
  EXPECT_EQ(identity("{token: abc}"), (Identity{.token = "abc"}));
  EXPECT_EQ(identity("{token: abc, tokenFile: token}"), (Identity{.token = "file"}));
  EXPECT_EQ(identity("{username: jane, password: pw}"),
            (Identity{.user = "jane", .password = "pw"}));
  EXPECT_EQ(identity("{client-certificate: pem, client-key: pem}"),
            (Identity{.certificate_pem = pem, .key_pem = pem}));
  EXPECT_EQ(identity(fmt::format("{{client-certificate-data: {0}, client-key-data: {0}, "
                                 "client-key: /none, token: abc}}",
                                 Pem())),
            (Identity{.token = "abc", .certificate_pem = pem, .key_pem = pem}));
  EXPECT_EQ(FindIn("{server: 'https://a'}", "{}")->credentials, nullptr);
}

TEST_F(FindAccessTest, SaysWhatIsWrongWithAUser) {
  const std::string who = "user \"u\" in /home/jane/.kube/config, line 11: ";
  const auto failure = [&](const std::string& user) {
    return FailureIn("{server: 'https://a'}", user);
  };
  EXPECT_EQ(failure("{token: 12345}"), who + "token is not a text; put it into quotes");
  EXPECT_EQ(failure("{token: a, username: b}"),
            who + "it has a token and also a username or password; keep one of them");
  EXPECT_EQ(failure("{client-certificate: x}"),
            who + "it has a client-certificate but no client-key");
  EXPECT_EQ(failure("{client-key: x}"), who + "it has a client-key but no client-certificate");
  EXPECT_EQ(failure("{as-groups: [a]}"),
            who +
                "a group, uid or extra information is to be impersonated, but no user: name one "
                "with --as or `as`");
  EXPECT_EQ(failure("{as: \"a\\nb\"}"),
            who + "\"a\\nb\" cannot be sent as the header Impersonate-User");
  EXPECT_EQ(failure("{as: a, as-groups: a}"), who + "as-groups is not a list");
  EXPECT_EQ(failure("{as: a, as-groups: [1]}"),
            who + "as-groups contains something that is not a text; put it into quotes");
  EXPECT_EQ(failure("{as: a, as-user-extra: {x: y}}"), who + "as-user-extra.x is not a list");
  EXPECT_EQ(failure("{exec: 5}"), who + "exec is not a mapping");
  const std::string old = "is no longer supported, by kubectl neither: ";
  EXPECT_EQ(failure("{auth-provider: {name: gcp}}"),
            who + "the auth-provider \"gcp\" " + old +
                "install gke-gcloud-auth-plugin and run `gcloud container clusters "
                "get-credentials`");
  EXPECT_THAT(failure("{auth-provider: {name: azure}}"),
              HasSubstr("install kubelogin and run `kubelogin convert-kubeconfig`"));
  EXPECT_THAT(failure("{auth-provider: {name: oidc}}"), HasSubstr("`kubectl oidc-login`"));
  EXPECT_THAT(failure("{auth-provider: {}}"), HasSubstr("\"unknown\" is no longer supported"));
}

TEST_F(FindAccessTest, ImpersonatesAsTheUserSays) {
  const auto access = FindIn("{server: 'https://a'}",
                             "{as: jane, as-uid: '7', as-groups: [dev, ops], "
                             "as-user-extra: {scopes: [view, edit], 'example.com/a b%': [x]}}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_THAT(access->headers,
              ElementsAre(Pair("Impersonate-User", "jane"), Pair("Impersonate-Uid", "7"),
                          Pair("Impersonate-Group", "dev"), Pair("Impersonate-Group", "ops"),
                          Pair("Impersonate-Extra-scopes", "view"),
                          Pair("Impersonate-Extra-scopes", "edit"),
                          Pair("Impersonate-Extra-example.com%2Fa%20b%25", "x")));
}

TEST_F(FindAccessTest, RunsTheCredentialPlugin) {
  machine.runner->Print(R"({"apiVersion":"client.authentication.k8s.io/v1beta1",)"
                        R"("kind":"ExecCredential","status":{"token":"abc"}})");
  const auto access = FindIn(
      fmt::format("{{server: 'https://a', certificate-authority-data: {}, extensions: "
                  "[{{name: client.authentication.k8s.io/exec, extension: {{audience: x}}}}]}}",
                  Pem()),
      "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/get-token, "
      "args: [a, b], env: [{name: NAME, value: v}], provideClusterInfo: true}}");
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_THAT(machine.runner->commands, IsEmpty()) << "not before it is needed";
  EXPECT_EQ(access->credentials->Get()->token, "abc");
  const PluginCommand& command = machine.runner->commands.at(0);
  EXPECT_EQ(command.program, "/home/jane/.kube/bin/get-token");
  EXPECT_THAT(command.arguments, ElementsAre("a", "b"));
  EXPECT_THAT(command.environment,
              ElementsAre("HOME=/home/jane",
                          fmt::format("KUBERNETES_EXEC_INFO={{\"kind\":\"ExecCredential\","
                                      "\"apiVersion\":\"client.authentication.k8s.io/v1beta1\","
                                      "\"spec\":{{\"cluster\":{{\"server\":\"https://a\","
                                      "\"certificate-authority-data\":\"{}\","
                                      "\"config\":{{\"audience\":\"x\"}}}},"
                                      "\"interactive\":false}}}}",
                                      Pem()),
                          "NAME=v"));
}

TEST_F(FindAccessTest, APluginIsTheLastWayToLogIn) {
  const std::string exec =
      "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: get-token}";
  EXPECT_EQ(
      FindIn("{server: 'https://a'}", "{token: own, " + exec + "}")->credentials->Get()->token,
      "own");
  EXPECT_EQ(
      FindIn("{server: 'https://a'}", "{username: own, " + exec + "}")->credentials->Get()->user,
      "own");
  EXPECT_THAT(machine.runner->commands, IsEmpty());
}

TEST_F(FindAccessTest, SaysWhatIsWrongWithAPlugin) {
  const std::string who = "user \"u\" in /home/jane/.kube/config, line 11: exec.";
  const auto failure = [&](const std::string& fields) {
    return FailureIn("{server: 'https://a'}", "{exec: {" + fields + "}}");
  };
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
  const std::string versions =
      "it must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1";
  EXPECT_EQ(failure(v1), who + "command is not set");
  EXPECT_EQ(failure("command: x"), who + "apiVersion is not set; " + versions);
  EXPECT_EQ(failure("command: x, apiVersion: client.authentication.k8s.io/v1alpha1"),
            who + "apiVersion is \"client.authentication.k8s.io/v1alpha1\"; " + versions +
                ". Update the plugin and write its entry again with its own command");
  EXPECT_EQ(failure("command: x, " + v1),
            who +
                "interactiveMode is not set, but client.authentication.k8s.io/v1 requires it: "
                "Never, IfAvailable or Always");
  EXPECT_EQ(failure("command: x, interactiveMode: never, " + v1),
            who + "interactiveMode is \"never\"; it must be Never, IfAvailable or Always");
  const std::string good = "command: x, interactiveMode: Never, " + v1;
  EXPECT_EQ(failure(good), "no error: https://a");
  EXPECT_EQ(failure(good + ", env: [{value: x}]"), who + "env[].name is not set, or contains '='");
  EXPECT_EQ(failure(good + ", args: [1]"),
            who + "args contains something that is not a text; put it into quotes");
  EXPECT_EQ(failure(good + ", args: [\"a\\0b\"]"),
            who + "command or its arguments contain a zero byte");
  EXPECT_EQ(failure(good + ", provideClusterInfo: 1"),
            who + "provideClusterInfo is neither true nor false");
}

// --- flags ---------------------------------------------------------------------------------------

TEST_F(FindAccessTest, FlagsReplaceWhatTheClusterSays) {
  machine.files["/ca"] = kTestPem;
  const std::string cluster =
      fmt::format("{{server: 'https://a', tls-server-name: x, certificate-authority-data: {}}}",
                  base::Base64("-----BEGIN own"));
  options.server = "https://b:1";
  auto access = FindIn(cluster);
  EXPECT_EQ(access->url, "https://b:1");
  EXPECT_EQ(access->client.tls->server_name, "") << "another server has another name";
  EXPECT_EQ(access->client.tls->name_advice,
            "if it is the right server, use one of these names in --server");
  EXPECT_EQ(access->client.tls->ca_pem, "-----BEGIN own");
  options.tls_server_name = "y";
  EXPECT_EQ(FindIn(cluster)->client.tls->server_name, "y");
  options.insecure_skip_tls_verify = true;
  access = FindIn(cluster);
  EXPECT_FALSE(access->client.tls->verify);
  EXPECT_EQ(access->client.tls->ca_pem, "");
  options.insecure_skip_tls_verify = false;
  options.certificate_authority = "/ca";
  EXPECT_EQ(FindIn(cluster)->client.tls->ca_pem, kTestPem);
  options.proxy_url = "http://p";
  EXPECT_EQ(FindIn(cluster)->client.proxy_url, "http://p");
  options.request_timeout = "5s";
  EXPECT_EQ(FindIn(cluster)->request_timeout, std::chrono::seconds(5));
  options.request_timeout = "soon";
  EXPECT_THAT(Failure(), HasSubstr("--request-timeout \"soon\" is not a time"));
}

TEST_F(FindAccessTest, FlagsReplaceWhatTheUserSays) {
  options.token = "flag";
  for (const char* user :
       {"{token: own}", "{tokenFile: /none}", "{username: a, password: b}",
        "{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: get-token}}",
        "{client-certificate: /none, client-key: /none}", "{auth-provider: {name: gcp}}", "{}"}) {
    const auto access = FindIn("{server: 'https://a'}", user);
    ASSERT_TRUE(access) << access.error().message;
    EXPECT_EQ(*access->credentials->Get(), (Identity{.token = "flag"})) << user;
  }
  options.as = "joe";
  options.as_uid = "9";
  options.as_groups = {"g"};
  EXPECT_THAT(FindIn("{server: 'https://a'}", "{as: jane, as-uid: x, as-groups: [a, b]}")->headers,
              ElementsAre(Pair("Impersonate-User", "joe"), Pair("Impersonate-Uid", "9"),
                          Pair("Impersonate-Group", "g")));
  options.as = {};
  EXPECT_THAT(FailureIn("{server: 'https://a'}"), HasSubstr("name one with --as"));
}

TEST_F(FindAccessTest, AServerAloneIsEnough) {
  options.server = "http://127.0.0.1:8001";
  const auto access = Find();
  ASSERT_TRUE(access) << access.error().message;
  EXPECT_EQ(access->origin, "--server");
  EXPECT_EQ(access->client.port, 8001);
  EXPECT_EQ(access->name_space, "default");
  options = {.server = "https://a", .token = "t"};
  EXPECT_EQ(Find()->credentials->Get()->token, "t");
  machine.files["/home/jane/.kube/config"] = "users: [{name: u, user: {}}]";
  EXPECT_EQ(Find()->origin, "--server") << "no context is current";
  options.server = "https://a:b";
  EXPECT_EQ(Failure(),
            "--server: the server \"https://a:b\" has the port \"b\", which is not from "
            "1 to 65535");
}

// --- what is missing -----------------------------------------------------------------------------

TEST_F(FindAccessTest, SaysWhichContextsThereAre) {
  const std::string two = "contexts:\n- {name: prod, context: {cluster: c}}\n- {name: dev}\n";
  EXPECT_EQ(FailureOf(two),
            "/home/jane/.kube/config sets no current-context; it has the contexts: "
            "dev, prod; choose one with --context");
  options.context = "x";
  EXPECT_EQ(Failure(),
            "context \"x\" does not exist in /home/jane/.kube/config; it has the contexts: dev, "
            "prod");
  machine.variables["KUBECONFIG"] = "/a:/b";
  machine.files["/a"] = two;
  machine.files["/b"] = "";
  EXPECT_EQ(Failure(), "context \"x\" does not exist in /a, /b; it has the contexts: dev, prod");
  machine.files["/a"] = "contexts:\n";
  for (int i = 100; i < 150; ++i) {
    machine.files["/a"] += fmt::format("- name: c{}\n", i);
  }
  EXPECT_THAT(Failure(), EndsWith("c118, c119 and 30 more"));
  machine.variables["KUBECONFIG"] = "/none";
  EXPECT_EQ(Failure(), "context \"x\" does not exist: /none of $KUBECONFIG does not exist");
}

TEST_F(FindAccessTest, SaysWhatAContextRefersTo) {
  const auto failure = [&](const std::string& context) {
    return FailureOf("current-context: x\ncontexts:\n- {name: x, context: " + context +
                     "}\nclusters:\n- {name: c, cluster: {server: 'https://a'}}\n");
  };
  const std::string who = "context \"x\" in /home/jane/.kube/config, line 3: ";
  EXPECT_EQ(failure("{}"), who + "it names no cluster");
  EXPECT_EQ(failure("{cluster: d}"), who +
                                         "the cluster \"d\" does not exist in "
                                         "/home/jane/.kube/config; it has the clusters: c");
  EXPECT_EQ(failure("{cluster: c, user: v}"),
            who + "the user \"v\" does not exist in /home/jane/.kube/config; there are no users");
  EXPECT_EQ(failure("{cluster: 5}"), who + "cluster is not a text; put it into quotes");
  EXPECT_EQ(failure("{cluster: c}"), "no error: https://a");
}

TEST_F(FindAccessTest, SaysWhichFileAndLineIsWrong) {
  const std::string who = "the kubeconfig /home/jane/.kube/config cannot be used: ";
  EXPECT_EQ(FailureOf("a: b\nc: [\nd: e\n"),
            who + "yaml: line 3: did not find expected ',' or ']'");
  EXPECT_EQ(FailureOf("a: b\n\tc: d\n"),
            who + "yaml: line 2: found a tab character that violates indentation");
  EXPECT_EQ(FailureOf("just text"), who + "it is not a mapping");
  EXPECT_EQ(FailureOf("kind: Secret"), who + "its kind is \"Secret\", not \"Config\"");
  EXPECT_EQ(FailureOf("apiVersion: v2"), who + "its apiVersion is \"v2\", not \"v1\"");
  EXPECT_EQ(FailureOf("current-context: 5"), who +
                                                 "current-context is not a text; if it looks like "
                                                 "a number or like yes, put it into quotes");
  EXPECT_EQ(FailureOf("users: {}"), who + "users is not a list");
  EXPECT_EQ(FailureOf("users: [{name: 5}]"),
            who +
                "users[0] in line 1 does not have a text as its name; if the name looks like a "
                "number or like yes, put it into quotes");
  EXPECT_EQ(FailureOf("users: [5]"),
            who +
                "users[0] in line 1 does not have a text as its name; if the name looks like a "
                "number or like yes, put it into quotes");
  EXPECT_EQ(FailureOf("users: [{name: a, user: text}]"),
            who + "user of the user \"a\" in line 1 is not a mapping");
  EXPECT_EQ(FailureOf("clusters:\n- {name: a}\n- name: a\n"),
            who + "clusters contains \"a\" twice, in lines 2 and 3");
  machine.variables["KUBECONFIG"] = "/good:/bad";
  machine.files["/good"] = OneContext("{server: 'https://a'}", "{}");
  machine.files["/bad"] = "a: [";
  EXPECT_THAT(Failure(), HasSubstr("the kubeconfig /bad cannot be used: yaml: "));
}

}  // namespace
}  // namespace berth::kube
