#pragma once
#include <ATen/ATen.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "support/golden.h"
#include "support/plda_reference.h"

namespace protocom::testing {

/// A task of golden/plda.json: counts and sums of its supports, some of which are 0.
struct PldaTask {
  PriorOfMeans prior;
  at::Tensor count;
  at::Tensor sum;
  at::Tensor queries;
};

inline PldaTask task_of(const nlohmann::json& data) {
  PldaTask task{
      {tensor_of(data.at("prior_mean")), tensor_of(data.at("prior_variance"))}, {}, {}, tensor_of(data.at("queries"))};
  std::vector<double> count;
  std::vector<at::Tensor> sum;
  for (const auto& images : data.at("supports")) {
    count.push_back(static_cast<double>(images.size()));
    sum.push_back(images.empty() ? at::zeros({task.prior.mean.size(1)}, at::kDouble) : tensor_of(images).sum(0));
  }
  task.count = at::tensor(count, at::kDouble);
  task.sum = at::stack(sum);
  return task;
}

}  // namespace protocom::testing
