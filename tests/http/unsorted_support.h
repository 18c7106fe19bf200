#pragma once
#include "http/server_support.h"
#include "recognizer/create_recognizer.h"

namespace protocom::testing {

/// A recognizer that nothing but its own photos tell its classes apart in, beside that of the test.
inline fs::path make_own_photos(const fs::path& folder, RecognizerParts parts) {
  parts.model.clear();
  parts.knowledge.clear();
  create_recognizer(folder / "own.pcm", parts, {});
  return folder / "own.pcm";
}

}  // namespace protocom::testing
