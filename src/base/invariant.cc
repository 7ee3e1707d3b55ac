// The end of a process whose invariant broke: one line on standard error, then abort.
#include "base/invariant.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdlib>

namespace baton {
namespace {

// The line, built without allocating: the heap may be what is broken. What does not fit is cut, never the newline.
class LastLine {
 public:
  void Text(std::string_view text) {
    for (const char c : text) Put(c);
  }

  // Quoted as in a log line, so that nothing in a message can start a line of its own.
  void Quoted(std::string_view text) {
    constexpr std::string_view kHex = "0123456789abcdef";
    Put('"');
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\n') {
        Text("\\n");
      } else if (byte < 0x20 || byte == 0x7f) {
        Text("\\u00");
        Put(kHex[byte >> 4]);
        Put(kHex[byte & 15]);
      } else {
        if (c == '"' || c == '\\') Put('\\');
        Put(c);
      }
    }
    Put('"');
  }

  void Number(unsigned number) {
    std::array<char, 16> digits;
    Text({digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr});
  }

  void Write() {
    buffer_[size_++] = '\n';
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, buffer_.data(), size_);
  }

 private:
  static constexpr size_t kCapacity = 4096;

  void Put(char c) {
    if (size_ < kCapacity - 1) buffer_[size_++] = c;
  }

  std::array<char, kCapacity> buffer_;
  size_t size_ = 0;
};

}  // namespace

void InvariantBroken(std::string_view condition, std::string_view message, std::source_location where) {
  LastLine line;
  line.Text("level=fatal msg=\"invariant broken\" at=");
  line.Text(where.file_name());
  line.Text(":");
  line.Number(static_cast<unsigned>(where.line()));
  line.Text(" condition=");
  line.Quoted(condition);
  line.Text(" why=");
  line.Quoted(message);
  line.Write();
  std::abort();
}

}  // namespace baton
