// Fuzz: an image name that parses prints as it was, and a part that is replaced is the part that is read back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/invariant.h"
#include "overrides/image.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace baton::overrides;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const baton::Result<Image> image = ParseImage(text);
  if (!image.ok()) return 0;
  INVARIANT(PrintImage(*image) == text, text);
  INVARIANT(!image->repository.empty(), text);

  Image changed = *image;
  changed.registry = "mirror.example:5000";
  const baton::Result<Image> moved = ParseImage(PrintImage(changed));
  // A repository that began with what only looked like a registry ("A/b") is none behind a registry.
  if (moved.ok()) INVARIANT(*moved == changed, text);

  changed = *image;
  SetTagOrDigest(changed, "v2");
  INVARIANT(ParseImage(PrintImage(changed)).value() == changed, text);
  INVARIANT(changed.tag == "v2" && changed.digest.empty(), text);
  return 0;
}
