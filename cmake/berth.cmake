# Compiler settings, dependencies and the functions that every module uses.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(BERTH_CCACHE ccache)
if(BERTH_CCACHE)
  # Without this, ccache does not cache files that use a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${BERTH_CCACHE})
endif()
find_program(BERTH_MOLD mold)
if(BERTH_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Werror
                    -fno-omit-frame-pointer -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # libstdc++'s stable_sort uses a function that libstdc++ deprecates. g++ still finds deprecated
  # uses in our code.
  add_compile_options(-Wthread-safety -Wno-deprecated-declarations)
else()
  add_compile_options(-Wno-restrict)  # g++ 12 warns about "x" + std::string without reason.
  add_compile_options(--param=ggc-min-heapsize=1000000)  # In KB. Memory is cheaper than collecting.
endif()

# Compiles the files of a target together. Most of the time of a first build goes into headers,
# which are then parsed once for all files. Names that are local to a file must then differ within
# its target.
set(CMAKE_UNITY_BUILD ${BERTH_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
if(BERTH_UNITY AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wno-subobject-linkage)  # It treats every included file as a header.
endif()

find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)

if(BERTH_TESTS)
  enable_testing()
  find_package(GTest REQUIRED)
  find_package(rapidcheck REQUIRED)
  include(GoogleTest)
  add_custom_target(ordinary_tests)  # What the tests labelled fast and slow need.
endif()

include(precompiled)

# berth_test_library(<target>)
# Configures a library that only tests link. The code under test is optimized like the product.
# Models, checkers and clients need not be, and compile in three quarters of the time.
function(berth_test_library target)
  target_compile_options(${target} PRIVATE -O1)
  berth_precompiled(${target} library)
endfunction()

# berth_test(<name> LABEL <fast|slow|models|long|chaos> SOURCES <file...> DEPS <module...> [SERIAL])
# Adds one test program. Each of its cases becomes a ctest case with the label, or the whole program
# if it is fast and BERTH_WHOLE_PROGRAMS is set. SERIAL is for tests that need the machine for
# themselves: no other test runs at the same time.
function(berth_test name)
  cmake_parse_arguments(arg "SERIAL" "LABEL" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_LABEL STREQUAL "fast")
    # The code under test is optimized. The tests themselves need not be, and compile in half the
    # time.
    target_compile_options(${name} PRIVATE -O0 ${BERTH_TEST_OPTIONS})
    berth_precompiled(${name} fast_tests)
  else()
    # For -O1 see berth_test_library.
    target_compile_options(${name} PRIVATE -O1 ${BERTH_TEST_OPTIONS})
    berth_precompiled(${name} slow_tests)
  endif()
  list(TRANSFORM arg_DEPS PREPEND berth_)
  target_link_libraries(${name} PRIVATE ${arg_DEPS} GTest::gmock GTest::gtest_main rapidcheck
                                        rapidcheck_gtest)
  if(arg_LABEL MATCHES "fast|slow")
    add_dependencies(ordinary_tests ${name})
  endif()
  set(properties LABELS ${arg_LABEL} TIMEOUT 1800 RUN_SERIAL ${arg_SERIAL})
  if(BERTH_WHOLE_PROGRAMS AND arg_LABEL STREQUAL "fast")
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties})
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties}
                         SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  endif()
endfunction()

# berth_module(<name> SOURCES <file...> [DEPS <module...>] [LIBS <target...>]
#              [TEST_DEPS <module...>])
# Adds the library of a folder of src/. DEPS are the layers that it may use (tools/check_layers.py
# checks that too), LIBS are external libraries, and TEST_DEPS are modules that only its tests use.
# Tests in the same folder are found by name:
# *_slow_test.cc are labelled slow, every other *_test.cc fast.
function(berth_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS;LIBS;TEST_DEPS" ${ARGN})
  add_library(berth_${name} STATIC ${arg_SOURCES})
  target_include_directories(berth_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  berth_precompiled(berth_${name} library)
  list(TRANSFORM arg_DEPS PREPEND berth_)
  target_link_libraries(berth_${name} PUBLIC ${arg_DEPS} ${arg_LIBS})
  if(BERTH_TESTS)
    file(GLOB slow CONFIGURE_DEPENDS *_slow_test.cc)
    file(GLOB fast CONFIGURE_DEPENDS *_test.cc)
    list(REMOVE_ITEM fast ${slow})
    foreach(label fast slow)
      if(${label})
        set(program ${name}_test)
        if(label STREQUAL "slow")
          set(program ${name}_slow_test)
        endif()
        berth_test(${program} LABEL ${label} SOURCES ${${label}} DEPS ${name} ${arg_TEST_DEPS})
      endif()
    endforeach()
  endif()
endfunction()
