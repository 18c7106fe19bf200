#include "fewshot/toolbox/detail/soft_k_means.h"

#include "fewshot/toolbox/detail/class_kernels.h"

namespace protocom {

const Floats& SoftKMeans::place(const Task& task, const std::vector<const float*>& rows, int64_t dim) {
  span_.place(rows, dim);
  compute_mean_coefficients(task, stride(), means_);
  compute_labels(task, stride(), labels_);
  for (int64_t step = 0; step < options_.steps; ++step) {
    compute_logits(task.n);
    exponentials_of_classes(logits_.data(), task.n, stride());
    shares_of_classes(nullptr, logits_.data(), task.n, stride());
    compute_means_of_shares(task, labels_, logits_.data() + task.supports(), stride(), stride(), means_);
  }
  compute_logits(task.n);
  return logits_;
}

void SoftKMeans::compute_logits(int64_t n) {
  logits_.resize(means_.size());
  span_.compute_distances(means_.data(), n, logits_.data());
  for (float& logit : logits_) logit *= -static_cast<float>(options_.sharpness);
}

}  // namespace protocom
