#include "base/error.h"

#include <gtest/gtest.h>

#include <set>

#include "base/result.h"

namespace berth::base {
namespace {

struct Expected {
  std::string_view text;
  Reason reason;
  int code;
};

// The reasons and codes that k8s.io/apimachinery/pkg/api/errors puts into a Status.
constexpr Expected kExpected[] = {
    {"", Reason::kUnknown, 500},
    {"BadRequest", Reason::kBadRequest, 400},
    {"Unauthorized", Reason::kUnauthorized, 401},
    {"Forbidden", Reason::kForbidden, 403},
    {"NotFound", Reason::kNotFound, 404},
    {"MethodNotAllowed", Reason::kMethodNotAllowed, 405},
    {"NotAcceptable", Reason::kNotAcceptable, 406},
    {"AlreadyExists", Reason::kAlreadyExists, 409},
    {"Conflict", Reason::kConflict, 409},
    {"Gone", Reason::kGone, 410},
    {"Expired", Reason::kExpired, 410},
    {"RequestEntityTooLarge", Reason::kRequestEntityTooLarge, 413},
    {"UnsupportedMediaType", Reason::kUnsupportedMediaType, 415},
    {"Invalid", Reason::kInvalid, 422},
    {"TooManyRequests", Reason::kTooManyRequests, 429},
    {"InternalError", Reason::kInternalError, 500},
    {"ServerTimeout", Reason::kServerTimeout, 500},
    {"ServiceUnavailable", Reason::kServiceUnavailable, 503},
    {"Timeout", Reason::kTimeout, 504},
};

TEST(Reason, HasTheTextAndCodeOfKubernetes) {
  for (const Expected& row : kExpected) {
    EXPECT_EQ(ReasonText(row.reason), row.text);
    EXPECT_EQ(HttpCode(row.reason), row.code) << row.text;
  }
}

TEST(Reason, TextsAreDistinct) {
  std::set<std::string_view> texts;
  for (const Expected& row : kExpected) texts.insert(ReasonText(row.reason));
  EXPECT_EQ(texts.size(), std::size(kExpected));
}

Result<int> Half(int number) {
  if (number % 2 != 0) return Fail(Reason::kInvalid, "odd");
  return number / 2;
}

TEST(Result, CarriesTheValueOrTheError) {
  EXPECT_EQ(Half(4), 2);
  const Result<int> failed = Half(3);
  ASSERT_FALSE(failed.has_value());
  EXPECT_EQ(failed.error(), (Error{.reason = Reason::kInvalid, .message = "odd"}));
}

TEST(Error, EqualityLooksAtCauses) {
  Error a{.reason = Reason::kInvalid, .message = "m"};
  Error b = a;
  EXPECT_EQ(a, b);
  b.causes.push_back({.reason = "FieldValueInvalid", .message = "bad", .field = "spec.clusterIP"});
  EXPECT_NE(a, b);
  a.causes = b.causes;
  EXPECT_EQ(a, b);
}

}  // namespace
}  // namespace berth::base
