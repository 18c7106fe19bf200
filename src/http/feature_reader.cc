#include "http/detail/feature_reader.h"

#include <cmath>

#include "http/detail/http_error.h"

namespace protocom::http {
namespace {

constexpr double kBeyondFeatures = 9223372036854775808.0;  // 2^63

}  // namespace

void FeatureReader::other() const {
  if (depth_ == 0) refuse(400, "'features': expected a list of features");
  refuse_row();
}

void FeatureReader::refuse_row() const { refuse(400, "feature: expected a list of {} numbers", shape_.dim); }

void FeatureReader::start_array() {
  ++depth_;
  if (depth_ == 1) return;
  if (depth_ > 2 || (rows_ == 0 && in_row_ > 0)) refuse_row();
  if (++rows_ > shape_.most) refuse(413, "a request has at most {} features", shape_.most);
  in_row_ = 0;
}

void FeatureReader::number(double value) {
  if (depth_ == 0 || (depth_ == 1 && rows_ > 0)) other();
  if (++in_row_ > shape_.dim) refuse_row();
  if (!(std::abs(value) < kBeyondFeatures))
    refuse(400, "feature: number out of range: expected a magnitude below 2^63, found {:g}", value);
  values_.push_back(static_cast<float>(value));
}

void FeatureReader::end_array() {
  if (depth_ == 1 && rows_ == 0 && in_row_ == 0) refuse(400, "'features': expected a list of features");
  const bool ends_row = depth_ == 2 || rows_ == 0;
  if (ends_row && in_row_ != shape_.dim) refuse_row();
  done_ = --depth_ == 0;
}

Array FeatureReader::features() const {
  return Array::of(values_, {static_cast<int64_t>(values_.size()) / shape_.dim, shape_.dim});
}

}  // namespace protocom::http
