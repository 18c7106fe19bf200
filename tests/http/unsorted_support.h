#pragma once
#include "http/server_support.h"
#include "recognizer/create_recognizer.h"

namespace protocom::testing {

/// Makes, beside the test's recognizer, one that distinguishes its classes by its own photos alone.
inline fs::path make_own_photos(const fs::path& folder, RecognizerParts parts) {
  parts.model.clear();
  parts.knowledge.clear();
  create_recognizer(folder / "own.pcm", parts, {});
  return folder / "own.pcm";
}

}  // namespace protocom::testing
