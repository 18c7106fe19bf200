#include "encoders/output_checks.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "base/text.h"

namespace protocom {

void refuse_shape_of_output(const Shape& shape) {
  fail("its output is [{}], expected features [n, d], maps [n, c, h, w] or tokens [n, t, d]", fmt::join(shape, ", "));
}

void refuse_maps_of_output(const std::string& name, const Shape& shape) {
  fail("its output '{}' is [{}], expected feature maps [n, c, h, w]: choose another", excerpt(name),
       fmt::join(shape, ", "));
}

void refuse_count_of_output(const Shape& shape, int64_t images) {
  fail("the output is [{}] for {} images, expected features [n, d]", fmt::join(shape, ", "), images);
}

void refuse_name_of_output(const std::string& name, const std::string& list) {
  fail("unknown output '{}': expected one of {}", excerpt(name), list);
}

void refuse_choice_of_output(const std::string& list) {
  fail("several outputs: choose the image's feature by --output, one of {}", list);
}

void check_trial_is_finite(bool is_finite) {
  if (!is_finite) fail("its features of a trial image are not finite");
}

void check_feature_length(int64_t found, int64_t side, int64_t expected, int64_t own_side) {
  if (found == expected) return;
  fail(
      "the backbone gives {0} features for images of {1}x{1} pixels and {2} for the {3}x{3} it was made for: pack "
      "the images at {3}",
      found, side, expected, own_side);
}

}  // namespace protocom
