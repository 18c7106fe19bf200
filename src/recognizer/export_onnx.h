#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "protocom/onnx_export.h"

namespace protocom {

class Recognizer;

/// Writes what a recognizer answers now as an ONNX file of standard operators, with its encoder, and beside it
/// NAME.labels.txt. It has the outputs
///     probabilities [n, c]  of the classes; with none_of_these they sum to 1
///     none_of_these [n]     the probability that the image is of none of them; only where that is calibrated
///     familiarity [n]       Answer::familiarity
///     label [n]             the number of the likeliest class, int64
/// Its metadata have the classes, the images that it takes, the calibration and which recognizer it was made of
/// (docs/elsewhere.md). Throws Error if there is no class, the encoder is a program (TorchScript) or cannot be
/// written, the file would have more than 2 GB, or something else than an earlier export of this recognizer lies at
/// `path`; UsageError for a method whose answer is not a formula of one image's feature (Recognizer::formula), and for
/// options that exclude one another. Nothing is written then.
OnnxExport export_onnx(Recognizer& recognizer, const std::filesystem::path& path,
                       const OnnxExportOptions& options = {});

/// What is written.
struct OnnxContent {
  std::string bytes;                 ///< of the ONNX file
  std::vector<std::string> classes;  ///< in the order of their numbers
  std::string input, outputs;        ///< as OnnxExport describes them
  int64_t at_once = -1;              ///< images that the encoder's graph takes; -1: any number
};

/// The same in memory, for sending. Throws as export_onnx().
OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options = {});

}  // namespace protocom
