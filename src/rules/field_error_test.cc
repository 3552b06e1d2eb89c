#include "rules/field_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

using ::testing::ElementsAre;

TEST(Path, IsWrittenAsInMessages) {
  EXPECT_EQ(Path("spec").Child("ports").Index(0).Child("port").text(), "spec.ports[0].port");
  EXPECT_EQ(Path("metadata").Child("annotations").Key("a.io/b").text(),
            "metadata.annotations[a.io/b]");
}

TEST(FieldErrors, EachTypeHasItsWords) {
  FieldErrors errors;
  const Path path("f");
  errors.NotFound(path, "x");
  errors.Required(path);
  errors.Required(path, "why");
  errors.Duplicate(path, 30080);
  errors.Invalid(path, 0, "must be between 1 and 65535, inclusive");
  errors.NotSupported(path, "x", {"A", "B"});
  errors.Forbidden(path, "no");
  errors.TooLong(path, 10);
  errors.TooMany(path, 3, 2);
  errors.TooMany(path, 2, 1);
  errors.Internal(path, "broken");
  EXPECT_THAT(Lines(errors),
              ElementsAre("f: Not found: \"x\"", "f: Required value", "f: Required value: why",
                          "f: Duplicate value: 30080",
                          "f: Invalid value: 0: must be between 1 and 65535, inclusive",
                          "f: Unsupported value: \"x\": supported values: \"A\", \"B\"",
                          "f: Forbidden: no", "f: Too long: may not be more than 10 bytes",
                          "f: Too many: 3: must have at most 2 items",
                          "f: Too many: 2: must have at most 1 item", "f: Internal error: broken"));
  std::vector<std::string> reasons;
  for (const base::Cause& cause : errors.Causes()) reasons.push_back(cause.reason);
  EXPECT_THAT(reasons,
              ElementsAre("FieldValueNotFound", "FieldValueRequired", "FieldValueRequired",
                          "FieldValueDuplicate", "FieldValueInvalid", "FieldValueNotSupported",
                          "FieldValueForbidden", "FieldValueTooLong", "FieldValueTooMany",
                          "FieldValueTooMany", "InternalError"));
}

TEST(FieldErrors, ValuesArePrintedAsGoDoes) {
  EXPECT_EQ(PrintValue("a\"b\n"), R"("a\"b\n")");
  EXPECT_EQ(PrintValue(-1), "-1");
  EXPECT_EQ(PrintValue(nullptr), "null");
  EXPECT_EQ(PrintValue(codec::Array{"a", ""}), R"(["a",""])");
  EXPECT_EQ(PrintValue(codec::Array{"<&>"}), R"(["\u003c\u0026\u003e"])");
  EXPECT_EQ(PrintValue(codec::Object{{"Name", ""}, {"Port", 80}, {"AppProtocol", nullptr}}),
            R"({"Name":"","Port":80,"AppProtocol":null})");
}

TEST(FieldErrors, OneErrorIsTheMessage) {
  FieldErrors errors;
  errors.Required(Path("spec.ports"));
  const base::Error error = errors.ToError("Service", "web");
  EXPECT_EQ(error.reason, base::Reason::kInvalid);
  EXPECT_EQ(error.message, "Service \"web\" is invalid: spec.ports: Required value");
  EXPECT_THAT(error.causes,
              ElementsAre(base::Cause{"FieldValueRequired", "Required value", "spec.ports"}));
}

TEST(FieldErrors, EqualErrorsAreSaidOnceButAllAreCauses) {
  FieldErrors errors;
  errors.Required(Path("a"));
  FieldErrors more;
  more.Required(Path("a"));
  more.Forbidden(Path("b"), "no");
  errors.Append(more);
  const base::Error error = errors.ToError("ServiceCIDR.networking.k8s.io", "x");
  EXPECT_EQ(
      error.message,
      "ServiceCIDR.networking.k8s.io \"x\" is invalid: [a: Required value, b: Forbidden: no]");
  EXPECT_EQ(error.causes.size(), 3U);
}

TEST(FieldErrors, AreBounded) {
  FieldErrors errors;
  for (size_t i = 0; i < 2 * kMostFieldErrors; ++i) errors.Required(Path("a").Index(i));
  FieldErrors more;
  more.Append(errors);
  more.Append(errors);
  EXPECT_EQ(more.size(), kMostFieldErrors);
}

}  // namespace
}  // namespace berth::rules
