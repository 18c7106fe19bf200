
#include "tensors/device.h"

#include <ATen/Parallel.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>
#include <torch/cuda.h>

#include <thread>

#include "base/cores.h"
#include "base/threads.h"
#include "support/message_of.h"

namespace protocom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string usage_error_of(const std::string& device) {
  return testing::usage_message_of([&] { parse_device(device); });
}

TEST(Device, TakesTheProcessor) { EXPECT_EQ(parse_device("cpu"), c10::Device(c10::kCPU)); }

TEST(Device, TakesTheFirstGraphicsCardIfThereIsOne) {
  EXPECT_EQ(parse_device("auto"),
            torch::cuda::device_count() > 0 ? c10::Device(c10::kCUDA, 0) : c10::Device(c10::kCPU));
}

TEST(Device, TakesEveryGraphicsCardThereIs) {
  const auto devices = static_cast<int>(torch::cuda::device_count());
  for (int i = 0; i < devices; ++i)
    EXPECT_EQ(parse_device("cuda:" + std::to_string(i)), c10::Device(c10::kCUDA, static_cast<int8_t>(i)));
  EXPECT_THAT(usage_error_of("cuda:" + std::to_string(devices)), HasSubstr("CUDA device"));
}

TEST(Device, RefusesAnUnknownDeviceAndSaysWhatThereIs) {
  for (const char* text : {"gpu", "", "CPU", "cpu:0", "mps", "cudax"}) {
    EXPECT_THAT(usage_error_of(text),
                AllOf(HasSubstr("'" + std::string(text) + "'"), HasSubstr("expected cpu, cuda, cuda:N or auto")))
        << text;
  }
  for (const char* text : {"cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99"}) {
    EXPECT_THAT(usage_error_of(text), HasSubstr("'" + std::string(text) + "'")) << text;
  }
}

TEST(Device, CountsAtLeastOneCoreAndNoMoreThanThereAre) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(std::thread::hardware_concurrency()));
}

TEST(Device, CountsOnlyTheCoresThisThreadMayUse) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
  cpu_set_t one;
  CPU_ZERO(&one);
  for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &before)) CPU_SET(i, &one);
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  const int cores = usable_cores();
  sched_setaffinity(0, sizeof(before), &before);
  EXPECT_EQ(cores, 1);
}

TEST(Device, SetsTheThreadsOfLibTorchAndOpenMp) {
  set_threads(3);
  EXPECT_EQ(at::get_num_threads(), 3);
  EXPECT_EQ(omp_get_max_threads(), 3);
  set_threads(0);
  EXPECT_EQ(at::get_num_threads(), usable_cores());
}

}  // namespace
}  // namespace protocom
