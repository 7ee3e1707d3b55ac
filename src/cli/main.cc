// The program's entry. Thin on purpose: everything testable lives in modules.
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
  const std::string_view command = argc > 1 ? argv[1] : "--help";
  if (command == "version") return std::puts("baton " BATON_VERSION), 0;
  return 2;
}
