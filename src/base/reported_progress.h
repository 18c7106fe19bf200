#pragma once
#include <functional>
#include <string>
#include <utility>

#include "base/progress.h"

namespace protocom {

/// Reports each step of a job, including its beginning, to a function.
class ReportedProgress : public Progress {
 public:
  using Report = std::function<void(const std::string& job, int64_t done, int64_t total, const std::string& detail)>;
  explicit ReportedProgress(Report report) : report_(std::move(report)) {}

  void start(std::string_view what, int64_t total) override {
    job_ = what;
    total_ = total;
    advance(0, "");
  }
  void advance(int64_t done, std::string_view detail) override { report_(job_, done, total_, std::string(detail)); }

 private:
  Report report_;
  std::string job_;
  int64_t total_ = 0;
};

}  // namespace protocom
