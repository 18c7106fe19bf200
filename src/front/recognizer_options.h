#pragma once
#include "protocom/recognizer.h"
#include "protocom/serve/recognizer.h"

namespace protocom::v0 {

/// Checked. Throws UsageError.
protocom::RecognizerOptions own_options(const RecognizerOptions& given);

}  // namespace protocom::v0
