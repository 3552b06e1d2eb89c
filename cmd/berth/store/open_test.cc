#include "berth/store/open.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "berth/exit_code.h"
#include "codec/slot.h"
#include "store/event_slot.h"
#include "store/keys.h"
#include "store/types.h"

namespace berth::cli {
namespace {

// codec and store do not include each other. This checks what they must agree on.
TEST(ObjectSlotsTest, CodecAndStoreAgree) {
  EXPECT_EQ(codec::kMaxObjectSlot + 1, static_cast<int>(store::kMaxPuts));
  const store::SlotCodec slots = ObjectSlots();
  std::set<int> seen;
  for (const std::string& key :
       {std::string(store::kMarkerKey), std::string(store::kCompactKey),
        std::string(store::kTickKey), std::string(store::kProcessFencePrefix) + "1",
        std::string(store::kCopyNoteKey), std::string(store::kOwnPrefix) + "fence/ipv4"}) {
    std::string value = R"({"metadata":{}})";
    const int slot = slots.write(key, value, 7);
    EXPECT_EQ(value, R"({"metadata":{}})") << key;
    EXPECT_GT(slot, codec::kMaxObjectSlot) << key;
    EXPECT_LT(slot, store::kFirstDeleteSlot) << key;
    EXPECT_EQ(slots.read(key, value), slot) << key;
    EXPECT_TRUE(seen.insert(slot).second) << key << " shares its slot";
  }
}

TEST(ExitCodeOfTest, TellsWrongArgumentsFromFailures) {
  EXPECT_EQ(ExitCodeOf({.reason = base::Reason::kNotFound, .message = ""}), kBadUsage);
  EXPECT_EQ(ExitCodeOf({.reason = base::Reason::kInvalid, .message = ""}), kBadUsage);
  EXPECT_EQ(ExitCodeOf({.reason = base::Reason::kAlreadyExists, .message = ""}), kBadUsage);
  EXPECT_EQ(ExitCodeOf({.reason = base::Reason::kConflict, .message = ""}), kFailed);
  EXPECT_EQ(ExitCodeOf({.reason = base::Reason::kServiceUnavailable, .message = ""}), kFailed);
}

}  // namespace
}  // namespace berth::cli
