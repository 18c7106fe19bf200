#pragma once
#include <cstdint>
#include <string>

#include "protocom/error.h"

namespace protocom::v0 {

/// Options for exporting a recognizer as an ONNX file.
struct OnnxExportOptions {
  bool features = false;      ///< leave the encoder out: the input is its feature, `features` float32 [n, d]
  bool uint8 = false;         ///< the input is uint8 [n, h, w, 3] in place of float32 [n, 3, h, w] in [0, 1]
  bool half = false;          ///< store weights as float16, half the size; computes in float32
  bool int8 = false;          ///< store the encoder's weights as int8, the others as float16; computes in float32
  bool with_feature = false;  ///< add the encoder's feature as an output, `feature` float32 [n, d]
  /// Store weights in a file NAME.onnx.HASH.data beside it (ONNX's external data), where HASH changes with them. Always
  /// so for a file of more than 2 GB, the most that ONNX allows.
  bool external_data = false;
  /// Path of an HTML page to write, which classifies photos and camera images in any browser, without a server. It
  /// contains the ONNX file and ONNX Runtime Web. Empty: none.
  std::string page = {};
  /// The folder `dist` of the npm package onnxruntime-web, for the page.
  std::string runtime = {};
};

/// The files written.
struct OnnxExport {
  std::string model;    ///< the ONNX file
  std::string labels;   ///< a file beside it: one class name per line, in the order of the outputs
  std::string data;     ///< file with its weights (OnnxExportOptions::external_data); empty: they are inside
  std::string page;     ///< the page; empty: none
  std::string input;    ///< "image float32 [n, 3, 224, 224]"
  std::string outputs;  ///< "probabilities [n, 5], ..."
  int64_t bytes = 0;    ///< size of the ONNX file
  int64_t classes = 0;
  Warnings warnings = {};
};

}  // namespace protocom::v0

namespace protocom {
using v0::OnnxExport;
using v0::OnnxExportOptions;
}  // namespace protocom
