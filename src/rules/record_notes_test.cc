#include "rules/record_notes.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/timestamp.h"
#include "rules/testing/rules_kit.h"

namespace berth::rules {
namespace {

constexpr const char* kTime = "2026-11-15T04:35:00Z";

codec::Value WithAnnotations(const std::string& annotations) {
  return Json("{'metadata':{'name':'10.0.0.1','annotations':{" + annotations + "}}}");
}

std::string HiddenIn(const std::string& annotations) {
  codec::Value object = WithAnnotations(annotations);
  return TakeInternalAnnotations(object);
}

TEST(RecordNotes, AreTakenOutAndPutBack) {
  codec::Value object = WithAnnotations("'a':'b','internal.allocation.berth.io/chosen':'static'");
  const codec::Value before = object;
  const std::string hidden = TakeInternalAnnotations(object);
  EXPECT_EQ(object, WithAnnotations("'a':'b'"));
  EXPECT_EQ(hidden, "static");
  EXPECT_EQ(TakeInternalAnnotations(object), "");
  PutInternalAnnotations(object, hidden);
  EXPECT_EQ(object, before);
}

TEST(RecordNotes, LeaveNoEmptyAnnotations) {
  codec::Value object = WithAnnotations("'internal.allocation.berth.io/chosen':'dynamic'");
  const std::string hidden = TakeInternalAnnotations(object);
  EXPECT_EQ(hidden, "dynamic");
  EXPECT_EQ(object, Json("{'metadata':{'name':'10.0.0.1'}}"));
  PutInternalAnnotations(object, hidden);
  EXPECT_EQ(object, WithAnnotations("'internal.allocation.berth.io/chosen':'dynamic'"));
}

TEST(RecordNotes, NothingIsLost) {
  const std::vector<std::string> all = {
      R"('internal.allocation.berth.io/unheard-of':'a=b\\c\nstate=Free')",
      R"('internal.allocation.berth.io/x=y':'','internal.allocation.berth.io/':'nameless')",
      R"('internal.allocation.berth.io/chosen':'by lot')",
      R"('internal.allocation.berth.io/chosen':'')",
      R"('internal.allocation.berth.io/uid':'c0ffee00-0a3d-5c67-89ab-cdef00ff0180')",
      R"('internal.allocation.berth.io/uid':'C0FFEE','internal.allocation.berth.io/#x':'y')",
      R"('internal.allocation.berth.io/reserved-for':'','internal.allocation.berth.io/state':'')"};
  for (const std::string& annotations : all) {
    codec::Value object = WithAnnotations(annotations);
    const codec::Value before = object;
    const std::string hidden = TakeInternalAnnotations(object);
    EXPECT_NE(object, before);
    PutInternalAnnotations(object, hidden);
    EXPECT_EQ(object, before) << hidden;
  }
}

TEST(RecordNotes, TheStateStandsFirst) {
  EXPECT_EQ(HiddenIn("'internal.allocation.berth.io/until':'x',"
                     "'internal.allocation.berth.io/chosen':'static',"
                     "'internal.allocation.berth.io/state':'Free'"),
            "state=Free\nstatic\nuntil=x");
}

TEST(RecordNotes, TellTheState) {
  EXPECT_EQ(StateOfHidden(""), RecordState::kReserved) << "made by a person";
  EXPECT_EQ(StateOfHidden("static"), RecordState::kAllocated);
  EXPECT_EQ(StateOfHidden("dynamic"), RecordState::kAllocated);
  EXPECT_EQ(StateOfHidden("dynamic\nreserved-for=shop/web"), RecordState::kAllocated);
  EXPECT_EQ(StateOfHidden("chosen=by lot"), RecordState::kAllocated);
  EXPECT_EQ(StateOfHidden("state=Reserved"), RecordState::kReserved);
  EXPECT_EQ(StateOfHidden("state=Pending\nreserved-for=shop/web"), RecordState::kPending);
  EXPECT_EQ(StateOfHidden("state=Free\nstatic"), RecordState::kFree);
  EXPECT_EQ(StateOfHidden("state=Unheard-of"), RecordState::kReserved);
  EXPECT_EQ(StateOfHidden("range=a"), RecordState::kReserved);
  EXPECT_EQ(StateOfHidden(HiddenIn("'internal.allocation.berth.io/uid':"
                                   "'c0ffee00-0a3d-5c67-89ab-cdef00ff0180'")),
            RecordState::kReserved);
}

TEST(RecordNotes, TellForWhomItIsKept) {
  EXPECT_EQ(ReservedForOfHidden(""), "");
  EXPECT_EQ(ReservedForOfHidden("static"), "");
  EXPECT_EQ(ReservedForOfHidden("static\nrange=r\nreserved-for=shop/web\nsince=x"), "shop/web");
  EXPECT_EQ(RangeOfHidden("static\nrange=r\nreserved-for=shop/web\nsince=x"), "r");
  EXPECT_EQ(RangeOfHidden("static\nreserved-for=shop/web"), "");
  EXPECT_EQ(ReservedForOfHidden("reserved-forever=a\nreserved-for=shop/db"), "shop/db");
}

TEST(RecordNotes, AreReadAsTheyWereWritten) {
  const auto time = codec::ParseTime(kTime);
  const std::vector<RecordNotes> all = {
      {},
      {.state = RecordState::kAllocated, .chosen = ChosenBy::kOwner},
      {.state = RecordState::kAllocated,
       .chosen = ChosenBy::kAllocator,
       .range = "blue",
       .service_uid = "c0ffee00-0a3d-5c67-89ab-cdef00ff0180",
       .reserved_for = "shop/web"},
      {.state = RecordState::kAllocated, .chosen = ChosenBy::kOwner, .service_uid = "no UUID"},
      {.state = RecordState::kReserved, .range = "a=b\nc\\d"},
      {.state = RecordState::kPending,
       .range = "blue",
       .reserved_for = "shop/web",
       .hold_seconds = 86400,
       .since = time,
       .until = time},
      {.state = RecordState::kFree, .chosen = ChosenBy::kAllocator, .until = time}};
  for (const RecordNotes& notes : all) {
    const std::string hidden = HiddenOf(notes);
    EXPECT_EQ(NotesOfHidden(hidden), notes) << hidden;
    EXPECT_EQ(StateOfHidden(hidden), notes.state) << hidden;
    codec::Value object = WithAnnotations("'internal.allocation.berth.io/range':'old','a':'b'");
    WriteNotes(object, notes);
    EXPECT_EQ(ReadNotes(object), notes) << hidden;
    EXPECT_EQ(TakeInternalAnnotations(object), hidden);
    EXPECT_EQ(object, WithAnnotations("'a':'b'"));
  }
}

TEST(RecordNotes, AllocatedOnesAreShort) {
  EXPECT_EQ(HiddenOf({.state = RecordState::kAllocated, .chosen = ChosenBy::kOwner}), "static");
  EXPECT_EQ(HiddenOf({.state = RecordState::kAllocated, .chosen = ChosenBy::kAllocator}),
            "dynamic");
  EXPECT_EQ(HiddenOf({.state = RecordState::kAllocated,
                      .chosen = ChosenBy::kAllocator,
                      .service_uid = "c0ffee00-0000-4000-8000-000000000001"})
                .size(),
            std::string_view("dynamic\n#").size() + 16);
}

TEST(RecordNotes, OfAnyTextAreRead) {
  for (const char* hidden : {"\n", "=", "\\", "a\\", "until=yesterday\nsince=", "hold-seconds=x",
                             "#", "#short", "#longer than sixteen bytes"}) {
    const RecordNotes notes = NotesOfHidden(hidden);
    EXPECT_EQ(notes.hold_seconds, 0);
    EXPECT_FALSE(notes.until);
    codec::Value object;
    PutInternalAnnotations(object, hidden);
  }
}

}  // namespace
}  // namespace berth::rules
