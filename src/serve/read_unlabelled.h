#pragma once
#include <ATen/core/Tensor.h>

#include "protocom/serve/recognizer_file.h"
#include "serve/database.h"

namespace protocom {

/// The features of the images whose class nobody has said, float32 [u, d], in the order of their numbers; undefined
/// where there is none. Throws Error where one says to have another size.
at::Tensor read_unlabelled(const Database& database, const RecognizerSettings& settings);

/// The same with all that is kept of them.
NewExamples unlabelled_contents(const Database& database, const RecognizerSettings& settings);

}  // namespace protocom
