#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/onnx_export.h"
#include "recognizer/expected_accuracy.h"

namespace protocom {

class Recognizer;

/// What smaller weights of an exported file (half, int8) cost and save.
struct ExportLoss {
  int64_t bytes = 0;          ///< of the file with weights as float32
  int64_t photos = 0;         ///< that expected_accuracy() asks about
  LeftOutComparison answers;  ///< about those that were found: by the recognizer, and by the file's feature
};

/// Leaves photos of the recognizer out and asks about them with the features that the exported file's encoder gives:
/// classes stay as they were taught, as in the file. The photos are those files that have not changed since they were
/// enrolled, in `folders`, or where they were then when there are none; at most 500, evenly. Throws as export_onnx()
/// and find_images().
ExportLoss export_loss(Recognizer& recognizer, const OnnxExportOptions& options,
                       const std::vector<std::string>& folders = {}, Progress& progress = Progress::none());

/// "20.0 MB as float32; leave-one-out accuracy on 231 photos: 81.8 % as float32, 81.4 % with smaller weights; 3 answers
/// change".
std::string sentence_of(const ExportLoss& loss);

}  // namespace protocom
