#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.h"
#include "support/free_port.h"

namespace protocom::testing {

/// The processes of one job, started by hand.
class Job {
 public:
  Job(const std::filesystem::path& folder, const std::vector<std::string>& arguments, int size)
      : Job(folder, std::vector<std::vector<std::string>>(static_cast<size_t>(size), arguments)) {}

  /// Takes one command line per process, in one folder or in several.
  Job(const std::filesystem::path& folder, const std::vector<std::vector<std::string>>& each)
      : Job(in_one_folder(folder, each)) {}
  explicit Job(const std::vector<std::pair<std::filesystem::path, std::vector<std::string>>>& each) { start(each); }

  Program& process(size_t rank) { return *processes_[rank]; }

  void expect_success() {
    for (auto& process : processes_) {
      const Outcome outcome = process->wait();
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }

 private:
  using Each = std::vector<std::pair<std::filesystem::path, std::vector<std::string>>>;

  static Each in_one_folder(const std::filesystem::path& folder, const std::vector<std::vector<std::string>>& each) {
    Each result;
    for (const auto& arguments : each) result.emplace_back(folder, arguments);
    return result;
  }

  void start(const Each& each) {
    ::setenv("MASTER_ADDR", "127.0.0.1", 1);
    ::setenv("MASTER_PORT", std::to_string(free_port()).c_str(), 1);
    ::setenv("WORLD_SIZE", std::to_string(each.size()).c_str(), 1);
    for (size_t rank = 0; rank < each.size(); ++rank) {
      ::setenv("RANK", std::to_string(rank).c_str(), 1);
      processes_.push_back(std::make_unique<Program>(each[rank].first, each[rank].second));
    }
    for (const char* name : {"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK"}) ::unsetenv(name);
  }

  std::vector<std::unique_ptr<Program>> processes_;
};

}  // namespace protocom::testing
