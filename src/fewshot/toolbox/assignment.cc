#include "fewshot/toolbox/detail/assignment.h"

#include <limits>
#include <utility>

#include "base/error.h"

namespace protocom {
namespace {

constexpr int64_t kNone = -1;

/// Assigns columns to rows one after the other; the prices `of_row` and `of_column` keep cost - prices nonnegative, and
/// zero where a row has its column.
class Assignment {
 public:
  explicit Assignment(DoubleMatrix cost)
      : cost_(std::move(cost)),
        columns_(cost_.cols()),
        of_row_(static_cast<size_t>(cost_.rows()), 0),
        of_column_(columns_, 0),
        row_at_(columns_, kNone) {}

  void place(int64_t row);
  [[nodiscard]] std::vector<int64_t> columns() const {
    std::vector<int64_t> found(of_row_.size(), kNone);
    for (int64_t c = 0; c < columns_; ++c)
      if (row_at_[c] != kNone) found[row_at_[c]] = c;
    return found;
  }

 private:
  struct Path {
    std::vector<double> length;  ///< shortest to each column
    std::vector<int64_t> from;   ///< column before each, kNone: the row being placed
    std::vector<char> is_settled;
  };
  [[nodiscard]] double reduced(int64_t row, int64_t column) const {
    return cost_(row, column) - of_row_[row] - of_column_[column];
  }
  /// Extends the path by `row`, which is reached at `so_far` through `before`; returns the nearest column that is not
  /// settled.
  [[nodiscard]] int64_t nearest(Path* path, int64_t row, double so_far, int64_t before) const;

  DoubleMatrix cost_;
  int64_t columns_;
  std::vector<double> of_row_;
  std::vector<double> of_column_;
  std::vector<int64_t> row_at_;
};

int64_t Assignment::nearest(Path* path, int64_t row, double so_far, int64_t before) const {
  int64_t best = kNone;
  for (int64_t c = 0; c < columns_; ++c) {
    if (path->is_settled[c]) continue;
    const double length = so_far + reduced(row, c);
    if (length < path->length[c]) {
      path->length[c] = length;
      path->from[c] = before;
    }
    if (best == kNone || path->length[c] < path->length[best]) best = c;
  }
  return best;
}

void Assignment::place(int64_t row) {
  Path path{std::vector<double>(columns_, std::numeric_limits<double>::infinity()),
            std::vector<int64_t>(columns_, kNone), std::vector<char>(columns_, 0)};
  int64_t column = nearest(&path, row, 0, kNone);
  while (row_at_[column] != kNone) {
    path.is_settled[column] = 1;
    column = nearest(&path, row_at_[column], path.length[column], column);
  }
  const double shortest = path.length[column];
  of_row_[row] += shortest;
  for (int64_t c = 0; c < columns_; ++c) {
    if (!path.is_settled[c]) continue;
    of_row_[row_at_[c]] += shortest - path.length[c];
    of_column_[c] -= shortest - path.length[c];
  }
  for (; path.from[column] != kNone; column = path.from[column]) row_at_[column] = row_at_[path.from[column]];
  row_at_[column] = row;
}

}  // namespace

std::vector<int64_t> best_assignment(const DoubleMatrix& gain) {
  if (gain.rows() > gain.cols())
    fail("assignment: expected at least as many columns as rows, found {} x {}", gain.rows(), gain.cols());
  Assignment assignment(-gain);
  for (int64_t row = 0; row < gain.rows(); ++row) assignment.place(row);
  return assignment.columns();
}

}  // namespace protocom
