#include "protocom/rows.h"

#include <algorithm>

#include "api/detail/boundary.h"
#include "base/error.h"

namespace protocom::v0 {
namespace {

int64_t rows_of(size_t values, int64_t dim) {
  if (dim < 1) throw Error(fmt::format("dim: expected at least 1, found {}", dim));
  if (values % static_cast<size_t>(dim) != 0)
    throw Error(fmt::format("{} numbers are not a multiple of the row length {}", values, dim));
  return static_cast<int64_t>(values) / dim;
}

template <typename Whole>
std::vector<int64_t> copied(const Whole* labels, int64_t count) {
  if (count < 0) throw Error(fmt::format("{} labels: expected at least 0", count));
  if (labels == nullptr && count > 0) throw Error(fmt::format("{} labels are given as a null pointer", count));
  return {labels, labels + count};
}

}  // namespace

Rows::Rows(const float* values, int64_t rows, int64_t dim) : floats_(values), rows_(rows), dim_(dim) {
  check(values != nullptr);
}

Rows::Rows(const double* values, int64_t rows, int64_t dim) : doubles_(values), rows_(rows), dim_(dim) {
  check(values != nullptr);
}

Rows::Rows(const std::vector<float>& values, int64_t dim) : Rows(values.data(), rows_of(values.size(), dim), dim) {}

Rows::Rows(const std::vector<double>& values, int64_t dim) : Rows(values.data(), rows_of(values.size(), dim), dim) {}

Rows::Rows(const Matrix& matrix) : Rows(matrix.values, matrix.columns) {
  if (rows_ != matrix.rows)
    throw Error(fmt::format("expected a matrix of {} x {}, found {} numbers", matrix.rows, dim_, matrix.values.size()));
}

void Rows::check(bool is_there) const {
  if (rows_ < 0) throw Error(fmt::format("{} rows: expected at least 0", rows_));
  if (dim_ < 1) throw Error(fmt::format("dim: expected at least 1, found {}", dim_));
  if (!is_there && rows_ > 0) throw Error(fmt::format("{} rows are given as a null pointer", rows_));
}

Labels::Labels(const int64_t* labels, int64_t count) : numbers_(copied(labels, count)) {}
Labels::Labels(const int32_t* labels, int64_t count) : numbers_(copied(labels, count)) {}
Labels::Labels(const std::vector<int64_t>& labels) : numbers_(labels) {}
Labels::Labels(const std::vector<int32_t>& labels) : numbers_(labels.begin(), labels.end()) {}

Labels::Labels(const std::vector<std::string>& labels) : names_(labels) {
  std::sort(names_.begin(), names_.end());
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  if (!names_.empty() && names_.front().empty()) throw Error("a label is an empty name");
  for (const std::string& label : labels)
    numbers_.push_back(std::lower_bound(names_.begin(), names_.end(), label) - names_.begin());
}

}  // namespace protocom::v0
