// The suite that tests every engine against every sentence of store/engine.h. For tests only. One
// test file per engine includes it, says how a store is made, and instantiates the suite:
//
//   #include "store/testing/contract_suite.h"
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
// Durable engines add store/testing/contract_durable_suite.h. An engine that writes slots into
// values is opened with TestSlotCodec().
//
// All keys lie under /registry/suite/ and, in one test, /registry/berth.io/replicas/. Other keys
// that the store held before a test do not matter.
#pragma once

#include <gtest/gtest.h>

#include "store/testing/contract_expiry_suite.h"
#include "store/testing/contract_fixture.h"
#include "store/testing/contract_group_suite.h"
#include "store/testing/contract_limits_suite.h"
#include "store/testing/contract_scan_suite.h"
#include "store/testing/contract_txn_suite.h"
#include "store/testing/contract_watch_suite.h"

// NOLINTBEGIN(cppcoreguidelines-macro-usage): gtest wants macros at namespace level.
#define BERTH_STORE_CONTRACT_PART(Name, Part, ...)                   \
  INSTANTIATE_TEST_SUITE_P(Name, Part, testing::Values(__VA_ARGS__), \
                           testing::PrintToStringParamName())

/// To be used inside namespace berth::store::contract. The arguments after the name are an
/// EngineUnderTest.
#define BERTH_STORE_CONTRACT(Name, ...)                         \
  BERTH_STORE_CONTRACT_PART(Name, ContractTxn, __VA_ARGS__);    \
  BERTH_STORE_CONTRACT_PART(Name, ContractLimits, __VA_ARGS__); \
  BERTH_STORE_CONTRACT_PART(Name, ContractScan, __VA_ARGS__);   \
  BERTH_STORE_CONTRACT_PART(Name, ContractWatch, __VA_ARGS__);  \
  BERTH_STORE_CONTRACT_PART(Name, ContractGroup, __VA_ARGS__);  \
  BERTH_STORE_CONTRACT_PART(Name, ContractExpiry, __VA_ARGS__)
// NOLINTEND(cppcoreguidelines-macro-usage)
