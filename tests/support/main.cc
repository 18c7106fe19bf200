#include <gtest/gtest.h>

#include "base/threads.h"
#include "support/real_data.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  protocom::set_threads(0);
  if (!protocom::testing::real_data()) {
    std::fprintf(stderr, "PROTOCOM_DATA is not set: the tests on real data are LEFT OUT of this run\n");
  }
  return RUN_ALL_TESTS();
}
