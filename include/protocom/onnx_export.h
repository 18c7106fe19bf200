#pragma once
#include <cstdint>
#include <string>

#include "protocom/error.h"

namespace protocom::v0 {

/// What a recognizer is written as in an ONNX file.
struct OnnxExportOptions {
  bool features = false;  ///< without the encoder: the input is its feature, `features` float32 [n, d]
  bool uint8 = false;     ///< images as they are decoded, uint8 [n, h, w, 3], and not float32 [n, 3, h, w] in [0, 1]
  bool half = false;      ///< weights lie in the file as float16, half as large; it computes with float32
  bool int8 = false;      ///< the encoder's weights lie in the file as int8, the rest as float16; likewise
  bool with_feature = false;  ///< the encoder's feature is an output too, `feature` float32 [n, d]
  /// A page to write too, which classifies photos and the camera's picture in any browser, without a server: it holds
  /// the ONNX file and ONNX Runtime Web. Empty: none.
  std::string page = {};
  /// The folder `dist` of the npm package onnxruntime-web, for the page.
  std::string runtime = {};
};

/// What was written.
struct OnnxExport {
  std::string model;    ///< the ONNX file
  std::string labels;   ///< beside it: the name of each class in a line, in the order of its numbers
  std::string page;     ///< the page; empty: none
  std::string input;    ///< "image float32 [n, 3, 224, 224]"
  std::string outputs;  ///< "probabilities [n, 5], ..."
  int64_t bytes = 0;    ///< of the ONNX file
  int64_t classes = 0;
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::OnnxExport;
using v0::OnnxExportOptions;
}  // namespace protocom
