#include "protocom/version.h"

namespace protocom::v0 {

const char* version() { return PROTOCOM_VERSION; }

}  // namespace protocom::v0
