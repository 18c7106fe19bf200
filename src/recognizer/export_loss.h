#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/onnx_export.h"
#include "recognizer/expected_accuracy.h"

namespace protocom {

class Recognizer;

/// Milliseconds per image of exported files, the median of several, on the available threads.
struct FileTimes {
  double whole = 0;    ///< with weights as float32
  double smaller = 0;  ///< with the requested weights
  std::string engine;  ///< the engine that runs both here, see Encoder::engine()
};

/// What smaller weights of an exported file (half, int8) cost in accuracy and save in size and time.
struct ExportLoss {
  int64_t bytes = 0;          ///< of the file with weights as float32
  FileTimes times;            ///< without reading photos
  int64_t photos = 0;         ///< number that expected_accuracy() holds out
  LeftOutComparison answers;  ///< for the photos found: by the recognizer, and by the file's feature
};

/// Holds photos of the recognizer out and classifies them with the features of the exported file's encoder; the classes
/// stay as enrolled, as in the file. Uses photos whose files have not changed since they were enrolled, in `folders`
/// or, without folders, where they were then; at most 500, sampled evenly. Throws as export_onnx() and find_images().
ExportLoss export_loss(Recognizer& recognizer, const OnnxExportOptions& options,
                       const std::vector<std::string>& folders = {}, Progress& progress = Progress::none());

/// Returns "20.0 MB and 35.1 ms a photo as float32, 35.4 ms with smaller weights (onnxruntime here); leave-one-out
/// accuracy on 231 photos: 81.8 % as float32, 81.4 % with smaller weights; answers that change: 3".
std::string sentence_of(const ExportLoss& loss);

}  // namespace protocom
