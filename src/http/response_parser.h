// Reads the answer to a request of the client. Internal to the module.
#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <cstddef>
#include <cstdint>

#include "http/client.h"

namespace berth::http {

/// Collects a response. The client takes parts of its body out between reads.
class ResponseParser final : public boost::beast::http::basic_parser<false> {
 public:
  explicit ResponseParser(bool head_only) {
    eager(true);
    skip(head_only);
    header_limit(kHeadLimit);
    body_limit(boost::none);
  }

  ClientResponse response;
  bool head_done = false;

 private:
  using Text = boost::beast::string_view;
  using Code = boost::beast::error_code;
  static constexpr uint32_t kHeadLimit = 1U << 20;

  void on_request_impl(boost::beast::http::verb, Text, Text, int, Code&) override {}
  void on_response_impl(int code, Text, int, Code&) override { response.code = code; }
  void on_field_impl(boost::beast::http::field, Text name, Text value, Code&) override {
    if (!head_done) {
      response.headers.Add({name.data(), name.size()}, {value.data(), value.size()});
    }
  }
  void on_header_impl(Code&) override { head_done = true; }
  void on_body_init_impl(const boost::optional<uint64_t>&, Code&) override {}
  size_t on_body_impl(Text body, Code&) override {
    response.body.append(body.data(), body.size());
    return body.size();
  }
  void on_chunk_header_impl(uint64_t, Text, Code&) override {}
  size_t on_chunk_body_impl(uint64_t, Text body, Code&) override {
    response.body.append(body.data(), body.size());
    return body.size();
  }
  void on_finish_impl(Code&) override {}
};

}  // namespace berth::http
