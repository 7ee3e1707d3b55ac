#include "api/field_set.h"

#include <gtest/gtest.h>

namespace baton::api {
namespace {
TEST(FieldSetTest, Starts) { EXPECT_TRUE(FieldSet().empty()); }
}  // namespace
}  // namespace baton::api
