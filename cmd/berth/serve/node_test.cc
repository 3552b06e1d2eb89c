#include "berth/serve/node.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "base/temp_dir.h"
#include "berth/serve/credentials.h"
#include "http/client.h"
#include "store/memory_engine.h"

namespace berth::cli {
namespace {

using std::chrono::milliseconds;

/// A node on a store in memory that can hold back its replies.
class NodeTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string tokens = dir_.Path() + "/tokens.csv";
    std::ofstream(tokens) << "token,admin,1,system:masters\n";
    arguments_.data_dir = dir_.Path();
    arguments_.secure_port = 0;
    arguments_.token_auth_file = tokens;
    const auto settings = CheckArguments(arguments_);
    ASSERT_TRUE(settings) << settings.error().message;
    const auto credentials =
        PrepareCredentials({.data_dir = dir_.Path(), .address = "127.0.0.1"}, clock_, log_);
    ASSERT_TRUE(credentials) << credentials.error().message;
    ca_pem_ = credentials->tls.client_ca_pem;
    store::MemoryOptions options;
    // The server writes by itself too. Only the write of the client is held.
    options.fault = [this](const store::Txn& txn) {
      const bool of_client = std::ranges::any_of(
          txn.puts, [](const store::Put& put) { return put.key == "/registry/namespaces/a"; });
      return hold_ && of_client ? store::Fault::kHold : store::Fault::kNone;
    };
    auto engine = store::MemoryEngine::Make(options, clock_);
    engine_ = engine.get();
    auto node = Node::Start(std::move(engine),
                            {.arguments = arguments_,
                             .settings = *settings,
                             .tls = credentials->tls,
                             .version = "1",
                             .writes = writes_},
                            clock_, log_);
    ASSERT_TRUE(node) << node.error().message;
    node_ = *std::move(node);
    port_ = node_->port();
  }

  base::Result<http::ClientResponse> Send(const http::ClientRequest& request) const {
    http::Client client(
        {.port = port_, .tls = http::ClientTls{.ca_pem = ca_pem_}, .token = "token"});
    return client.Send(request);
  }

  base::Result<http::ClientResponse> CreateNamespace() const {
    http::ClientRequest request{.method = "POST", .target = "/api/v1/namespaces"};
    request.headers.Add("content-type", "application/json");
    request.body = R"({"metadata": {"name": "a"}})";
    return Send(request);
  }

  void AwaitHeld() const {
    while (engine_->Held() == 0) std::this_thread::sleep_for(milliseconds(1));
  }
  /// Waits until new connections are refused.
  void AwaitDrain() const {
    while (Send({.target = "/livez"})) std::this_thread::sleep_for(milliseconds(1));
  }

  const base::TempDir dir_;
  const base::SystemClock clock_;
  base::Logger log_{{.minimum = base::LogLevel::kError}, clock_};
  ServeArguments arguments_;
  std::string ca_pem_;
  std::atomic<bool> hold_ = false;
  obs::WriteMetrics writes_;
  store::MemoryEngine* engine_ = nullptr;
  std::unique_ptr<Node> node_;
  uint16_t port_ = 0;
};

TEST_F(NodeTest, EndsAlthoughTheStoreDoesNotAnswer) {
  hold_ = true;
  base::Result<http::ClientResponse> answer;
  std::thread client([&] { answer = CreateNamespace(); });
  AwaitHeld();
  EXPECT_FALSE(node_->Drain(milliseconds(50)));
  node_.reset();
  client.join();
  EXPECT_FALSE(answer) << answer->code;
}

TEST_F(NodeTest, AWriteUnderWayIsAnsweredBeforeTheEnd) {
  hold_ = true;
  base::Result<http::ClientResponse> answer;
  std::thread client([&] { answer = CreateNamespace(); });
  AwaitHeld();
  std::thread releaser([&] {
    AwaitDrain();
    while (engine_->Release()) {
    }
  });
  EXPECT_TRUE(node_->Drain(std::chrono::seconds(30)));
  releaser.join();
  client.join();
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->code, 201);
}

}  // namespace
}  // namespace berth::cli
