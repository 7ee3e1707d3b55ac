# baton_module(NAME [DEPS module...] [LIBS library...]): the library src/<NAME> and its tests.
#
# Sources are all *.cc of the folder; *_test.cc become one test program <NAME>_test, *_fuzz.cc one libFuzzer program
# each. DEPS are Baton modules and must stand before NAME in cmake/modules.txt; LIBS are third-party libraries and stay
# private, so that their headers cannot leak through ours.
set(BATON_MODULE_ORDER_FILE "${CMAKE_SOURCE_DIR}/cmake/modules.txt")
file(STRINGS "${BATON_MODULE_ORDER_FILE}" BATON_MODULE_ORDER REGEX "^[a-z]")

if(BATON_FUZZ)
  add_custom_target(fuzzers)
endif()

function(baton_check_order name)
  list(FIND BATON_MODULE_ORDER ${name} own)
  if(own EQUAL -1)
    message(FATAL_ERROR "module '${name}' is not in cmake/modules.txt: add it where it belongs in the order")
  endif()
  foreach(dep ${ARGN})
    list(FIND BATON_MODULE_ORDER ${dep} at)
    if(at EQUAL -1 OR at GREATER_EQUAL own)
      message(FATAL_ERROR "module '${name}' may not depend on '${dep}': it does not stand before it in cmake/modules.txt")
    endif()
  endforeach()
endfunction()

function(baton_module name)
  cmake_parse_arguments(arg "" "" "DEPS;LIBS;TEST_LIBS" ${ARGN})
  baton_check_order(${name} ${arg_DEPS})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  file(GLOB fuzzers CONFIGURE_DEPENDS *_fuzz.cc)
  list(REMOVE_ITEM sources ${tests} ${fuzzers})
  list(TRANSFORM arg_DEPS PREPEND baton_ OUTPUT_VARIABLE deps)

  add_library(baton_${name} STATIC ${sources})
  target_link_libraries(baton_${name} PUBLIC ${deps} PRIVATE ${arg_LIBS})
  if(BATON_GUARD_SWITCHES)
    target_compile_definitions(baton_${name} PUBLIC BATON_GUARD_SWITCHES=1)
  endif()

  if(tests)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE baton_${name} ${arg_TEST_LIBS} gtest gmock gtest_main pthread)
    target_compile_definitions(${name}_test PRIVATE BATON_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_compile_options(${name}_test PRIVATE -O1) # tests are compiled more often than they run
    add_test(NAME unit.${name} COMMAND ${name}_test --gtest_brief=1)
    set_tests_properties(unit.${name} PROPERTIES LABELS unit)
  endif()
  if(BATON_FUZZ)
    foreach(source ${fuzzers})
      get_filename_component(program ${source} NAME_WE)
      add_executable(${program} ${source})
      target_link_libraries(${program} PRIVATE baton_${name})
      target_link_options(${program} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${program})
    endforeach()
  endif()
endfunction()
