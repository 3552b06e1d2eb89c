# Precompiled headers. Much of the time of compiling a file (a third with clang, less with g++) goes
# into the same headers of the standard library, fmt and googletest, so these are parsed once for
# each set of flags. They only save time: each file still includes what it uses. clang-tidy and the
# presets tsan and debug compile without them (BERTH_PCH=OFF). Only external headers belong here,
# because a change of one of our headers would recompile everything. With g++ they are used only for
# code that is not optimized, because otherwise g++ warns about the standard library itself.

# Headers that about half of the files or more include anyway.
set(outside_headers <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <set> <span>
    <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)

# _berth_precompile(<flavour> HEADERS <header...> [OPTIONS <flag...>] [LIBS <target...>])
function(_berth_precompile flavour)
  cmake_parse_arguments(arg "" "" "HEADERS;OPTIONS;LIBS" ${ARGN})
  set(source ${PROJECT_BINARY_DIR}/precompiled.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "")
  add_library(berth_pch_${flavour} OBJECT ${source})
  target_compile_options(berth_pch_${flavour} PRIVATE ${arg_OPTIONS})
  target_link_libraries(berth_pch_${flavour} PRIVATE fmt::fmt tl::expected ${arg_LIBS})
  target_precompile_headers(berth_pch_${flavour} PRIVATE ${arg_HEADERS})
endfunction()

set(flavours)
if(BERTH_PCH)
  if(BERTH_TESTS)
    list(APPEND flavours fast_tests)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    list(APPEND flavours library)
    if(BERTH_TESTS)
      list(APPEND flavours slow_tests)
    endif()
  endif()
endif()

# berth_precompiled(<target> <library|fast_tests|slow_tests>)
# Uses the precompiled headers of a flavour for a target. Both must have the same flags. The target
# may have additional definitions.
function(berth_precompiled target flavour)
  if(flavour IN_LIST flavours)
    target_precompile_headers(${target} REUSE_FROM berth_pch_${flavour})
  endif()
endfunction()

# For ccache: the preprocessed text names the precompiled header, which must not contain a
# timestamp.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(for_ccache "SHELL:-Xclang -fno-pch-timestamp")
else()
  set(for_ccache -fpch-preprocess)
endif()
if(flavours)
  add_compile_options(${for_ccache})
endif()
set(test_headers <gmock/gmock.h> <gtest/gtest.h> ${outside_headers})
if("library" IN_LIST flavours)
  _berth_precompile(library HEADERS ${outside_headers})
endif()
if("fast_tests" IN_LIST flavours)
  _berth_precompile(fast_tests HEADERS ${test_headers} OPTIONS -O0 ${BERTH_TEST_OPTIONS} LIBS GTest::gmock)
endif()
if("slow_tests" IN_LIST flavours)
  _berth_precompile(slow_tests HEADERS ${test_headers} OPTIONS -O1 ${BERTH_TEST_OPTIONS} LIBS GTest::gmock)
endif()
