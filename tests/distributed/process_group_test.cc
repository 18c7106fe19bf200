#include "jobs/process_group.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <thread>

#include "base/error.h"
#include "distributed/tensor_sums.h"
#include "support/free_port.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;

/// Sets the variables that a launcher would set, and no others of the kind, during its lifetime.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) : values_(values) {
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const auto& [name, value] : values_) ::unsetenv(name.c_str());
  }

 private:
  std::map<std::string, std::string> values_;
};

std::string refusal(const std::map<std::string, std::string>& values) {
  const Environment environment(values);
  try {
    launch_from_environment();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

TEST(Launch, IsAJobOfOneWhereNothingIsSet) {
  const Launch launch = launch_from_environment();
  EXPECT_EQ(launch.size, 1);
  EXPECT_EQ(launch.rank, 0);
}

TEST(Launch, ReadsWhatTorchrunSets) {
  const Environment environment({{"RANK", "5"},
                                 {"WORLD_SIZE", "8"},
                                 {"LOCAL_RANK", "1"},
                                 {"LOCAL_WORLD_SIZE", "4"},
                                 {"MASTER_ADDR", "node7"},
                                 {"MASTER_PORT", "1234"},
                                 {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  const Launch launch = launch_from_environment();
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.local_rank, 1);
  EXPECT_EQ(launch.local_size, 4);
  EXPECT_EQ(launch.host, "node7");
  EXPECT_EQ(launch.port, 1234);
  EXPECT_TRUE(launch.hosted_store);
}

TEST(Launch, ReadsWhatMpirunAndSrunSet) {
  {
    const Environment mpirun(
        std::map<std::string, std::string>{{"OMPI_COMM_WORLD_SIZE", "3"}, {"OMPI_COMM_WORLD_RANK", "2"}});
    EXPECT_EQ(launch_from_environment().rank, 2);
    EXPECT_EQ(launch_from_environment().size, 3);
  }
  const Environment srun(
      std::map<std::string, std::string>{{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "3"}, {"SLURM_LOCALID", "1"}});
  EXPECT_EQ(launch_from_environment().rank, 3);
  EXPECT_EQ(launch_from_environment().local_rank, 1);
}

TEST(Launch, IsAJobOfOneInAShellOfABatchJob) {
  const Environment shell(std::map<std::string, std::string>{{"SLURM_NTASKS", "4"}});
  EXPECT_EQ(launch_from_environment().size, 1);
}

TEST(Launch, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal({{"WORLD_SIZE", "2"}}), HasSubstr("RANK is not set"));
  EXPECT_THAT(refusal({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), HasSubstr("expected less than WORLD_SIZE (2), found 2"));
  EXPECT_THAT(refusal({{"WORLD_SIZE", "two"}}), HasSubstr("WORLD_SIZE: expected a number of at least 0, found 'two'"));
  EXPECT_THAT(refusal({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "70000"}}), HasSubstr("MASTER_PORT"));
}

TEST(ProcessGroup, OfOneChangesNothing) {
  const ProcessGroup& group = ProcessGroup::single();
  EXPECT_TRUE(group.is_single());
  EXPECT_TRUE(group.is_main());
  const at::Tensor values = at::tensor({1., 2.});
  sum(group, values);
  broadcast(group, values);
  EXPECT_TRUE(values.equal(at::tensor({1., 2.})));
  EXPECT_TRUE(tensor_of(group.gather_rows(array_of(values))).equal(values));
  EXPECT_EQ(group.broadcast(std::string("text")), "text");
  EXPECT_EQ(group.share(7), (std::pair<int64_t, int64_t>{0, 7}));
  EXPECT_EQ(group.connection(), nullptr);
}

/// Returns what each process of a group of two computes.
template <typename Result>
std::pair<Result, Result> in_two(Result (*compute)(const ProcessGroup& group)) {
  Launch first;
  first.size = 2;
  first.port = testing::free_port();
  Launch second = first;
  second.rank = second.local_rank = 1;
  std::pair<Result, Result> results;
  std::thread other([&] { results.second = compute(ProcessGroup(second)); });
  results.first = compute(ProcessGroup(first));
  other.join();
  return results;
}

TEST(ProcessGroup, GathersRowsOfAnyTypeToTheLastBit) {
  const auto [first, second] = in_two<std::vector<Array>>([](const ProcessGroup& group) {
    const bool is_main = group.is_main();
    const Array reals = is_main ? Array::of(std::vector<float>{-0.F, 1.5F}, {1, 2})
                                : Array::of(std::vector<float>{2, 3, NAN, -5}, {2, 2});
    const Array bools = Array::of(std::vector<bool>{is_main, true});
    const Array half = reals.to(NumberType::kFloat16);
    const Array none = Array::zeros({is_main ? 2 : 0, 3}, NumberType::kInt16);
    return std::vector<Array>{group.gather_rows(reals), group.gather_rows(bools), group.gather_rows(half),
                              group.gather_rows(none), group.gather_rows(none.rows(0, 0))};
  });
  for (const std::vector<Array>& all : {first, second}) {
    ASSERT_EQ(all[0].shape(), (Shape{3, 2}));
    const float* reals = all[0].data<float>();
    EXPECT_TRUE(reals[0] == 0 && std::signbit(reals[0]));
    EXPECT_EQ(reals[1], 1.5F);
    EXPECT_EQ(reals[3], 3);
    EXPECT_TRUE(std::isnan(reals[4]));
    EXPECT_EQ(reals[5], -5);
    ASSERT_EQ(all[1].shape(), (Shape{4}));
    const bool* bools = all[1].data<bool>();
    EXPECT_TRUE(bools[0] && bools[1] && !bools[2] && bools[3]);
    EXPECT_EQ(all[2].to(NumberType::kFloat32).data<float>()[5], -5);
    EXPECT_EQ(all[3].shape(), (Shape{2, 3}));
    EXPECT_EQ(all[4].shape(), (Shape{0, 3}));
  }
}

TEST(ProcessGroup, SumsTensorsAndTellsTheTextOfProcessZero) {
  using Told = std::pair<at::Tensor, std::string>;
  const auto [first, second] = in_two<Told>([](const ProcessGroup& group) {
    const at::Tensor values = at::tensor({1. + group.rank(), 2.});
    sum(group, values);
    const at::Tensor own = at::full({2}, group.rank(), at::kLong);
    broadcast(group, own);
    EXPECT_TRUE(own.equal(at::zeros({2}, at::kLong)));
    return Told{values, group.broadcast(group.is_main() ? std::string("of 0") : std::string("another"))};
  });
  for (const Told& told : {first, second}) {
    EXPECT_TRUE(told.first.equal(at::tensor({3., 4.})));
    EXPECT_EQ(told.second, "of 0");
  }
}

}  // namespace
}  // namespace protocom
