// EmbeddedText: a file that is part of the program (cmake/EmbedFiles.cmake), so that none is read when it runs.
#pragma once

#include <string_view>

namespace baton {

struct EmbeddedText {
  std::string_view name;  // of the file, without its folder
  std::string_view text;
};

}  // namespace baton
