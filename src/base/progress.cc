#include "base/progress.h"

namespace protocom {

Progress& Progress::none() {
  static Progress instance;
  return instance;
}

}  // namespace protocom
