// The suite that holds every engine to every sentence of store/engine.h. For tests only; included
// by one test file per engine, which says how a store is made and instantiates the suite:
//
//   #include "store/contract_suite.h"
//
//   namespace berth::store::contract {
//
//   class MemoryUnderTest final : public StoreUnderTest { ... };
//
//   BERTH_STORE_CONTRACT(Memory, EngineUnderTest{
//       .name = "memory", .make = [] { return std::make_unique<MemoryUnderTest>(); }});
//
//   }  // namespace berth::store::contract
//
// Engines that keep what they hold add store/contract_durable_suite.h. An engine that notes slots
// in values is opened with TestSlotCodec().
//
// All keys lie under /registry/suite/ and, in one test, /registry/berth.io/replicas/. What was in
// the store before a test is never looked at, as long as it is not one of these keys.
#pragma once

#include <gtest/gtest.h>

#include "store/contract_expiry_suite.h"
#include "store/contract_fixture.h"
#include "store/contract_group_suite.h"
#include "store/contract_limits_suite.h"
#include "store/contract_scan_suite.h"
#include "store/contract_txn_suite.h"
#include "store/contract_watch_suite.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): gtest wants macros at namespace level.
#define BERTH_STORE_CONTRACT_PART(Name, Part, ...)                   \
  INSTANTIATE_TEST_SUITE_P(Name, Part, testing::Values(__VA_ARGS__), \
                           testing::PrintToStringParamName())

/// Inside namespace berth::store::contract. The rest of the arguments is an EngineUnderTest.
#define BERTH_STORE_CONTRACT(Name, ...)                         \
  BERTH_STORE_CONTRACT_PART(Name, ContractTxn, __VA_ARGS__);    \
  BERTH_STORE_CONTRACT_PART(Name, ContractLimits, __VA_ARGS__); \
  BERTH_STORE_CONTRACT_PART(Name, ContractScan, __VA_ARGS__);   \
  BERTH_STORE_CONTRACT_PART(Name, ContractWatch, __VA_ARGS__);  \
  BERTH_STORE_CONTRACT_PART(Name, ContractGroup, __VA_ARGS__);  \
  BERTH_STORE_CONTRACT_PART(Name, ContractExpiry, __VA_ARGS__)
// NOLINTEND(cppcoreguidelines-macro-usage)
