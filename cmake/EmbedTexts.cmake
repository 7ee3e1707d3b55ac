# cmake -DOUT=file.cc -DHEADER=api/x_texts.h -DFUNCTION=XTexts -DTEXTS=a;b -P EmbedTexts.cmake: the texts as constants of a C++ file,
# which defines the header's function.
set(source "// Made by cmake/EmbedTexts.cmake.\n#include \"${HEADER}\"\n\nnamespace baton::api {\nnamespace {\n\n")
string(APPEND source "constexpr TypeText kTexts[] = {\n")
foreach(path IN LISTS TEXTS)
  file(READ "${path}" text)
  get_filename_component(name "${path}" NAME)
  string(APPEND source "    {\"${name}\", R\"baton(${text})baton\"},\n")
endforeach()
string(APPEND source "};\n\n}  // namespace\n\nstd::span<const TypeText> ${FUNCTION}() { return kTexts; }\n\n}  // namespace baton::api\n")
file(WRITE "${OUT}" "${source}")
