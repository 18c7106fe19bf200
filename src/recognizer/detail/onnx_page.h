#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "images/preprocessing.h"

namespace protocom {

/// The content of a page that classifies in a browser.
struct OnnxPage {
  std::string name;                  ///< its heading
  std::vector<std::string> classes;  ///< in order of their indices
  std::vector<std::string> titles;   ///< display names
  Preprocessing images;
  bool uint8 = false;             ///< the input of the ONNX file (OnnxExportOptions::uint8)
  std::string_view model;         ///< the ONNX file
  std::filesystem::path runtime;  ///< the folder `dist` of the npm package onnxruntime-web
};

/// Throws Error for a folder without ONNX Runtime Web, and UsageError for images that the page cannot resize.
void check_onnx_page(const OnnxPage& page);

/// Whether a file is such a page.
bool is_onnx_page(const std::filesystem::path& path);

/// Returns the page (assets/onnx_page), which needs no server and no other file. Throws as check_onnx_page().
std::string onnx_page(const OnnxPage& page);

}  // namespace protocom
