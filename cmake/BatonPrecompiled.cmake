# The standard library's headers, read once and not once per file: a third of a clean build. Only they, and GoogleTest for
# tests: so that an edit of ours never invalidates them. A file still includes what it uses: the fuzz and sanitizer builds
# have no precompiled headers, and fail where an include is missing.
set(BATON_STANDARD_HEADERS
  <algorithm> <array> <atomic> <charconv> <chrono> <coroutine> <cstdint> <cstring> <deque> <functional> <list> <map> <memory>
  <mutex> <optional> <ranges> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector>)

# ccache keys an object by this text and not by the precompiled file, which has absolute paths in it: two clones share a cache.
function(baton_precompiled name)
  file(WRITE "${CMAKE_BINARY_DIR}/empty.cc" "// What precompiled headers are compiled beside.\n")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/empty.cc")
  target_precompile_headers(${name} PRIVATE ${ARGN})
  target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  string(SHA256 key "${ARGN} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS}")
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum" "${key}\n")
endfunction()

# Not REUSE_FROM: that also includes the header by its absolute path, which ccache would take for part of the key.
function(baton_use_precompiled target name)
  if(NOT BATON_PRECOMPILED)
    return()
  endif()
  set(file "${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch")
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -include-pch -Xclang ${file}")
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${file}")
endfunction()

# Tests are compiled more often than they run; a sanitized one that is not optimized at all is too slow.
set(BATON_TEST_OPTIMIZE -O1)
if(BATON_PRECOMPILED)
  set(BATON_TEST_OPTIMIZE -O0)
  baton_precompiled(baton_pch ${BATON_STANDARD_HEADERS})
  baton_precompiled(baton_test_pch ${BATON_STANDARD_HEADERS} <gtest/gtest.h>)
  target_compile_options(baton_test_pch PRIVATE -O0)
endif()
