#include <gtest/gtest.h>

#include <future>
#include <random>
#include <thread>

#include "http/server_support.h"

namespace protocom::testing {
namespace {

class LongJobs : public Served {
 protected:
  Reply enrol_rows(const std::string& name, int64_t count) {
    std::normal_distribution<float> draw;
    const int64_t dim = RecognizerFile(path_).settings().feature_dim;
    nlohmann::json rows = nlohmann::json::array();
    for (int64_t i = 0; i < count; ++i) {
      nlohmann::json row = nlohmann::json::array();
      for (int64_t j = 0; j < dim; ++j) row.push_back(draw(random_));
      rows.push_back(row);
    }
    return ask("POST", "/v1/classes/" + name + "/examples", nlohmann::json{{"features", rows}}.dump(), kJson);
  }
  /// Starts a long job for a client of its own.
  std::future<int> begin(const std::string& target) const {
    return std::async(std::launch::async, [this, target] { return ask("GET", target).status; });
  }
  /// Returns whether such a job is running, in which case another one is refused.
  [[nodiscard]] bool is_running(const std::string& target) const { return ask("GET", target).status == 503; }

 private:
  std::mt19937 random_{1};
};

bool goes_on(const std::future<int>& job) {
  return job.wait_for(std::chrono::seconds(0)) == std::future_status::timeout;
}

TEST_F(LongJobs, WhatIsShortIsAnsweredWhileTwoOfThemRun) {
  serve();
  for (int number = 0; number < 10; ++number)
    ASSERT_EQ(enrol_rows("class" + std::to_string(number), 100).status, 201) << "so many that a map takes its time";
  bool changed_meanwhile = false;
  for (int round = 0; round < 8 && !changed_meanwhile; ++round) {
    enrol_rows("class0", 1);  // so that both are computed again
    const std::future<int> map = begin("/v1/map"), accuracy = begin("/v1/accuracy");
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // otherwise the check would itself be the job
    while (!changed_meanwhile && goes_on(map) && goes_on(accuracy)) {
      if (!is_running("/v1/map") || !is_running("/v1/accuracy")) continue;
      changed_meanwhile = enrol_rows("class1", 1).status == 200 && goes_on(map) && goes_on(accuracy);
    }
    map.wait();
    accuracy.wait();
  }
  EXPECT_TRUE(changed_meanwhile) << "another client's change waited for the jobs";
}

}  // namespace
}  // namespace protocom::testing
