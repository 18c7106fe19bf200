#pragma once
#include <gmock/gmock.h>

#include <string>

#include "base/error.h"
#include "networks/device_precision.h"

namespace protocom::testing {

/// Returns whether this CPU, with the environment of this process, refuses bfloat16. Also checks the message of a
/// refusal and that `auto` then means float32, so that a test may branch on the result.
inline bool refuses_bfloat16() {
  const c10::Device cpu(c10::kCPU);
  try {
    resolve_precision(Precision::kBFloat16, cpu);
    return false;
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("use float32 or auto"));
    EXPECT_EQ(resolve_precision(Precision::kAuto, cpu), Precision::kFloat32);
    return true;
  }
}

}  // namespace protocom::testing
