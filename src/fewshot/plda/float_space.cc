#include "fewshot/plda/detail/float_space.h"

#include "base/error.h"
#include "fewshot/plda/detail/directions.h"

namespace protocom {

FloatSpace::FloatSpace(const PldaSpace& space)
    : root(space.root),
      center(space.center.cast<float>()),
      projection(space.projection.cast<float>()),
      offset(space.offset.cast<float>()) {}

FloatMatrix FloatSpace::rooted(const Eigen::Ref<const FloatMatrix>& features) const {
  if (features.cols() != center.size())
    fail("features of {} dimensions, the space expects {}", features.cols(), center.size());
  if (root) return features.unaryExpr(&signed_root<float>);  // a row must not depend on the others
  return features;
}

bool FloatSpace::operator==(const FloatSpace& other) const {
  return root == other.root && projection.rows() == other.projection.rows() &&
         projection.cols() == other.projection.cols() && center == other.center && projection == other.projection &&
         offset == other.offset;
}

}  // namespace protocom
