// Lists through the whole backend.
#include <algorithm>

#include "apiserver/backend_for_test.h"
#include "base/strings.h"

namespace baton::apiserver {
namespace {

TEST(CoreListTest, SelectedListsComeInPagesOfWhatIsSelected) {
  InWorld(1, [](World& world) -> rt::Task<void> {
    for (int i = 0; i < 30; ++i) {
      EXPECT_EQ(Outcome(co_await world.Create(
                    world.Of("", "secrets", "default"),
                    StrCat("{metadata: {name: s", i + 10, "}, type: ", i % 3 == 0 ? "x/y" : "Opaque", "}"))),
                "OK");
    }
    const Target secrets = world.Of("", "secrets", "default");
    for (const size_t limit : {1, 3, 9, 10, 11, 1000}) {
      ListOptions options{.selection = ParseSelection(*secrets.type, "", "type=x/y").value(), .limit = limit};
      std::vector<std::string> names;
      do {
        const auto page = co_await world.core.List(secrets, options);
        EXPECT_EQ(Outcome(page), "OK");
        EXPECT_LE(page->items.size(), limit);
        EXPECT_FALSE(page->remaining);
        for (const Object& item : page->items)
          names.emplace_back(world.core.Decode(item.bytes)["metadata"]["name"].str());
        options.continue_token = page->continue_token;
      } while (!options.continue_token.empty());
      EXPECT_EQ(names.size(), 10U) << limit;
      EXPECT_TRUE(std::ranges::is_sorted(names)) << limit;
      EXPECT_EQ(names.back(), "s37") << limit;
    }
  });
}

}  // namespace
}  // namespace baton::apiserver
