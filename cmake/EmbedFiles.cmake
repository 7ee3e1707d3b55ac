# baton_embed(module header function file...): the files as constants of the library baton_<module>, by the function
# `std::span<const EmbeddedText> baton::<module>::<function>()` that src/<header> declares.
#
# Also run as a script: cmake -DOUT=file.cc -DHEADER=x.h -DNAMESPACE=baton::x -DFUNCTION=F -DTEXTS=a;b -P EmbedFiles.cmake
if(CMAKE_SCRIPT_MODE_FILE AND DEFINED OUT)
  set(source "// Made by cmake/EmbedFiles.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\nnamespace {\n\n")
  string(APPEND source "constexpr ::baton::EmbeddedText kTexts[] = {\n")
  foreach(path IN LISTS TEXTS)
    file(READ "${path}" text)
    get_filename_component(name "${path}" NAME)
    string(APPEND source "    {\"${name}\", R\"baton(${text})baton\"},\n")
  endforeach()
  string(APPEND source "};\n\n}  // namespace\n\nstd::span<const EmbeddedText> ${FUNCTION}() { return kTexts; }\n\n}  // namespace ${NAMESPACE}\n")
  file(WRITE "${OUT}" "${source}")
  return()
endif()

function(baton_embed module header function)
  string(REPLACE ".h" "_embedded.cc" made "${header}")
  set(source "${CMAKE_CURRENT_BINARY_DIR}/${made}")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND ${CMAKE_COMMAND} "-DOUT=${source}" "-DHEADER=${module}/${header}" "-DNAMESPACE=baton::${module}"
            "-DFUNCTION=${function}" "-DTEXTS=${ARGN}" -P "${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    DEPENDS ${ARGN} "${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake"
    VERBATIM)
  target_sources(baton_${module} PRIVATE "${source}")
endfunction()
