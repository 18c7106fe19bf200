#include "store/enrolled_classes.h"

#include <algorithm>

namespace protocom {

const StoredClass* EnrolledClasses::find(const std::string& name) const {
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const StoredClass& c) { return c.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

}  // namespace protocom
