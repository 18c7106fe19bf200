#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "encoders/onnx_tensor_store.h"
#include "protocom/onnx_export.h"

namespace protocom {

class Recognizer;

/// Writes what a recognizer answers now as an ONNX file of standard operators, with its encoder, and beside it
/// NAME.labels.txt. It has the outputs
///     probabilities [n, c]  of the classes; with none_of_these they sum to 1
///     none_of_these [n]     the probability that the image is of none of them; only where that is calibrated
///     familiarity [n]       Answer::familiarity
///     label [n]             the number of the likeliest class, int64
/// Of more than 2 GB, and where that is asked for, its weights lie in NAME.onnx.HASH.data. All files are written, or
/// none; where the process is killed, no ONNX file lies beside weights or labels of another.
/// Its metadata have the classes, the images that it takes, the calibration and which recognizer it was made of
/// (docs/elsewhere.md). Throws Error if there is no class, the encoder is a program (TorchScript) or cannot be
/// written, a page would have an ONNX file of more than 2 GB, or something else than an earlier export of this
/// recognizer lies at `path` or where the other files would; UsageError for a method whose answer is not a formula of
/// one image's feature (Recognizer::formula), and for options that exclude one another. Nothing is written then.
/// `most_bytes`: that one file may have.
OnnxExport export_onnx(Recognizer& recognizer, const std::filesystem::path& path, const OnnxExportOptions& options = {},
                       int64_t most_bytes = onnx::kMostBytes);

/// What is written.
struct OnnxContent {
  std::string bytes;                 ///< of the ONNX file
  std::vector<std::string> classes;  ///< in the order of their numbers
  std::string input, outputs;        ///< as OnnxExport describes them
  int64_t at_once = -1;              ///< images that the encoder's graph takes; -1: any number
};

/// The same in memory, for sending. Throws as export_onnx(), and Error for more than 2 GB.
OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options = {});

/// The ONNX file alone, for use here, with its weights beside it if need be; whatever lies there is replaced. Returns
/// the bytes of both. Throws as export_onnx().
int64_t write_onnx(Recognizer& recognizer, const std::filesystem::path& path, const OnnxExportOptions& options);

}  // namespace protocom
