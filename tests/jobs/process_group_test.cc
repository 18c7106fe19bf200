#include "jobs/process_group.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/error.h"

namespace protocom {
namespace {

using ::testing::HasSubstr;

/// Sets what a launcher would, and nothing else of the kind, for its life.
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
  EXPECT_THAT(refusal({{"WORLD_SIZE", "2"}, {"RANK", "2"}}), HasSubstr("expected less than WORLD_SIZE, 2"));
  EXPECT_THAT(refusal({{"WORLD_SIZE", "two"}}), HasSubstr("WORLD_SIZE must be a number of at least 0, found 'two'"));
  EXPECT_THAT(refusal({{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "70000"}}), HasSubstr("MASTER_PORT"));
}

TEST(ProcessGroup, OfOneChangesNothing) {
  const ProcessGroup& group = ProcessGroup::single();
  EXPECT_TRUE(group.is_single());
  EXPECT_TRUE(group.is_main());
  const at::Tensor values = at::tensor({1., 2.});
  group.sum(values);
  group.broadcast(values);
  EXPECT_TRUE(values.equal(at::tensor({1., 2.})));
  EXPECT_TRUE(group.gather_rows(values).equal(values));
  EXPECT_EQ(group.broadcast(std::string("text")), "text");
  EXPECT_EQ(group.share(7), (std::pair<int64_t, int64_t>{0, 7}));
}

}  // namespace
}  // namespace protocom
