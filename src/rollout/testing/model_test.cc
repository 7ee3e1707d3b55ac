#include "rollout/testing/model.h"
#include <gtest/gtest.h>
