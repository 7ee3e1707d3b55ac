# Headers that nearly every file of a layer includes, read once per layer and not once per file: more than half of a
# clean build. An edit of one of them compiles its layer anew, as it does without this: so a header belongs here only if
# two thirds of the layer include it. A file still includes what it uses: the fuzz build has no precompiled
# headers, and fails where an include is missing.
set(BATON_HEADERS_standard
  <algorithm> <array> <atomic> <charconv> <chrono> <coroutine> <cstdint> <cstring> <deque> <functional> <list> <map> <memory>
  <mutex> <optional> <ranges> <set> <span> <string> <string_view> <unordered_map> <unordered_set> <utility> <variant> <vector>)
set(BATON_HEADERS_values ${BATON_HEADERS_standard}
  base/error.h base/invariant.h base/result.h base/strings.h base/time.h json/value.h)
set(BATON_HEADERS_runtime ${BATON_HEADERS_values} base/ids.h rt/event.h rt/loop.h rt/scope.h rt/task.h rt/when.h)
set(BATON_HEADERS_control ${BATON_HEADERS_runtime} base/metrics.h kube/api.h kube/informer.h kube/mapper.h json/selector.h)
set(BATON_HEADERS_sim ${BATON_HEADERS_control} sim/world.h)
set(BATON_HEADERS_standard_test ${BATON_HEADERS_standard} <gtest/gtest.h>)
set(BATON_HEADERS_values_test ${BATON_HEADERS_values} <gtest/gtest.h> json/parse.h json/yaml.h)
set(BATON_HEADERS_runtime_test ${BATON_HEADERS_runtime} <gtest/gtest.h> rt/virtual_loop.h rt/test_support.h json/parse.h)
set(BATON_HEADERS_practice_test ${BATON_HEADERS_control} <gtest/gtest.h> practice/world_for_test.h)
set(BATON_HEADERS_sim_test ${BATON_HEADERS_control} <gtest/gtest.h> sim/scene_for_test.h)

# Which layer a module's files, and its tests, are read on; standard for those not named.
foreach(module json api overrides placement interpret apiserver)
  set(BATON_LAYER_${module} values)
  set(BATON_LAYER_${module}_test values_test)
endforeach()
foreach(module rt net store kube)
  set(BATON_LAYER_${module} runtime)
  set(BATON_LAYER_${module}_test runtime_test)
endforeach()
foreach(module scenario federation rollout practice sim museum cli)
  set(BATON_LAYER_${module} control)
  set(BATON_LAYER_${module}_test values_test)
endforeach()
set(BATON_LAYER_sim sim)
set(BATON_LAYER_base_test standard_test)
set(BATON_LAYER_practice_test practice_test)
set(BATON_LAYER_sim_test sim_test)

# ccache keys an object by a text beside the precompiled file and not by that file, which has absolute paths in it: so two
# clones share a cache. The text has every header of ours in it, whether read there or not: it is made at each build.
function(baton_precompiled layer)
  set(name baton_pch_${layer})
  set(headers ${BATON_HEADERS_${layer}})
  list(TRANSFORM headers REPLACE "^([a-z]+/.*)$" "${CMAKE_SOURCE_DIR}/src/\\1")
  add_library(${name} OBJECT EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/empty.cc")
  target_precompile_headers(${name} PRIVATE ${headers})
  target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
  if(layer MATCHES "test$")
    target_compile_options(${name} PRIVATE ${BATON_TEST_OPTIMIZE})
  endif()
  set(sum "${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch.sum")
  file(WRITE "${sum}" "not made yet: ${layer}\n")
  set_property(GLOBAL APPEND PROPERTY BATON_HEADER_SUMS "${sum}")
endfunction()

# OF: the module, or module_test. Not REUSE_FROM: that also includes the header by its absolute path, which ccache would take for part of the key.
function(baton_use_precompiled target of)
  if(NOT BATON_PRECOMPILED)
    return()
  endif()
  set(layer ${BATON_LAYER_${of}})
  if(NOT layer)
    set(layer standard)
  endif()
  set(name baton_pch_${layer})
  set(file "${CMAKE_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.pch")
  target_compile_options(${target} PRIVATE "SHELL:-Xclang -include-pch -Xclang ${file}")
  get_target_property(sources ${target} SOURCES)
  set_property(SOURCE ${sources} APPEND PROPERTY OBJECT_DEPENDS "${file}")
  add_dependencies(${target} baton_header_sums)
endfunction()

# Tests are compiled more often than they run; what they test is optimized.
set(BATON_TEST_OPTIMIZE -O0)
if(BATON_PRECOMPILED)
  file(WRITE "${CMAKE_BINARY_DIR}/empty.cc" "// What precompiled headers are compiled beside.\n")
  foreach(layer standard values runtime control sim standard_test values_test runtime_test practice_test sim_test)
    baton_precompiled(${layer})
    string(APPEND BATON_LAYERS "${layer} ${BATON_HEADERS_${layer}} ")
  endforeach()
  foreach(layer sim sim_test)
    target_link_libraries(baton_pch_${layer} PRIVATE baton_api_types) # made headers
  endforeach()
  get_property(BATON_HEADER_SUMS GLOBAL PROPERTY BATON_HEADER_SUMS)
  string(SHA256 BATON_LAYERS "${BATON_LAYERS} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS}")
  add_custom_target(baton_header_sums COMMAND ${CMAKE_SOURCE_DIR}/scripts/sum-headers ${CMAKE_SOURCE_DIR}/src
    ${BATON_LAYERS} ${BATON_HEADER_SUMS} COMMENT "Summing up the headers" VERBATIM)
endif()
