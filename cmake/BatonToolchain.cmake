# Compiler, warnings, linker, sanitizers: what every target of Baton is built with.
set(CMAKE_CXX_STANDARD 23)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS ON) # TRY() in base/result.h is a GNU statement expression
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(BATON_OLDEST_CLANG 19 CACHE STRING "The oldest clang that is accepted")
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang" OR CMAKE_CXX_COMPILER_VERSION VERSION_LESS BATON_OLDEST_CLANG)
  message(FATAL_ERROR
    "Baton is built with clang 19 or newer, and this is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}.\n"
    "Why: GCC 12 miscompiles ordinary coroutine code (temporaries inside a co_await expression are destroyed twice).\n"
    "Next: run scripts/setup, then make (it passes -DCMAKE_CXX_COMPILER=clang++-19).")
endif()

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(BATON_SANITIZE "" CACHE STRING "Sanitizers, e.g. address;undefined or thread")

add_compile_options(
  -Wall -Wextra -Werror
  -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wimplicit-fallthrough
  -Wnull-dereference -Wconversion -Wno-sign-conversion -Wextra-semi -Wunused-result
  -Wno-gnu-statement-expression -Wno-missing-designated-field-initializers
  -fno-omit-frame-pointer -fdiagnostics-color=always)
if(BATON_SANITIZE)
  string(REPLACE ";" "," baton_sanitizers "${BATON_SANITIZE}")
  add_compile_options(-fsanitize=${baton_sanitizers} -fno-sanitize-recover=all -g)
  add_link_options(-fsanitize=${baton_sanitizers})
endif()

# Paths in the binary and in ccache's keys are relative to the tree, so that two clones share a cache. The second map is
# for ccache, which gives the compiler paths relative to the build folder.
file(RELATIVE_PATH baton_source_from_build "${CMAKE_BINARY_DIR}" "${CMAKE_SOURCE_DIR}")
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/= -ffile-prefix-map=${baton_source_from_build}=)

find_program(BATON_CCACHE ccache)
if(BATON_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_PCH_EXTSUM=1 ${BATON_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# The fastest linker that is installed.
find_program(BATON_MOLD mold)
find_program(BATON_LLD ld.lld-19)
if(BATON_MOLD)
  add_link_options(-fuse-ld=mold)
elseif(BATON_LLD)
  add_link_options(-fuse-ld=${BATON_LLD})
endif()

include_directories(${CMAKE_SOURCE_DIR}/src)
