#include "codec/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core.h"
#include "codec/decode.h"
#include "codec/protobuf.h"
#include "codec/read.h"
#include "codec/slot.h"

namespace berth::codec {
namespace {

using ::testing::HasSubstr;

Value Lease() {
  return DecodeJson(R"({"metadata":{"name":"l","namespace":"a","selfLink":"/x",)"
                    R"("resourceVersion":"9"},"spec":{"holderIdentity":"me"}})",
                    api::kLease)
      ->object;
}

Value WithoutVersion(Value object) {
  EraseAt(object, {"metadata", "resourceVersion"});
  EraseAt(object, {"metadata", "selfLink"});
  return object;
}

TEST(Storage, ProtobufWithoutVersionAndLink) {
  const std::string bytes = EncodeStored(Lease(), api::kLeaseKind);
  EXPECT_TRUE(bytes.starts_with(kProtobufMagic));
  EXPECT_EQ(bytes, WrapEnvelope("coordination.k8s.io/v1", "Lease",
                                EncodeProto(WithoutVersion(Lease()), api::kLease)));
  const auto stored = DecodeStored(bytes);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->kind, &api::kLeaseKind);
  EXPECT_EQ(stored->object, WithoutVersion(Lease()));
}

TEST(Storage, JsonForKindsWithoutProtobuf) {
  api::Kind kind = api::kLeaseKind;
  kind.has_protobuf = false;
  const std::string text = EncodeStored(Lease(), kind);
  EXPECT_EQ(text, R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":)"
                  R"({"name":"l","namespace":"a","resourceVersion":""},"spec":)"
                  R"({"holderIdentity":"me"}})");
  const auto stored = DecodeStored(text);
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->kind, &api::kLeaseKind);
  EXPECT_EQ(stored->object, WithoutVersion(Lease()));
}

TEST(Storage, ANotedSlotIsNotRead) {
  std::string bytes = EncodeStored(Lease(), api::kLeaseKind);
  ASSERT_EQ(WriteSlot("/registry/leases/a/l", bytes, 17), 17);
  EXPECT_EQ(DecodeStored(bytes)->object, WithoutVersion(Lease()));
}

TEST(Storage, OlderVersionsAreReadAsTheServedOne) {
  const Value cidr = Object{{"metadata", Object{{"name", "kubernetes"}}},
                            {"spec", Object{{"cidrs", Array{"10.96.0.0/16"}}}}};
  const auto stored = DecodeStored(WrapEnvelope("networking.k8s.io/v1beta1", "ServiceCIDR",
                                                EncodeProto(cidr, api::kServiceCidr)));
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->kind, &api::kServiceCidrKind);
  EXPECT_EQ(stored->object, cidr);
}

TEST(Storage, ErrorsSayWhatIsWrong) {
  const auto message = [](std::string_view bytes) {
    const auto stored = DecodeStored(bytes);
    EXPECT_EQ(stored.error().reason, base::Reason::kInternalError);
    return stored.error().message;
  };
  EXPECT_EQ(message(WrapEnvelope("v1", "Pod", "")),
            "a stored object is of kind \"Pod\" in version \"v1\", which is not known");
  EXPECT_THAT(message(WrapEnvelope("v1", "Service", "x")), HasSubstr("cut off or malformed"));
  EXPECT_THAT(message(""), HasSubstr("cannot be decoded"));
  EXPECT_THAT(message(R"({"kind":"Service","apiVersion":"v1","spec":1})"),
              HasSubstr("cannot unmarshal"));
}

}  // namespace
}  // namespace berth::codec
