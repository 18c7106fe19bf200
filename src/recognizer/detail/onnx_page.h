#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "images/preprocessing.h"

namespace protocom {

/// What a page that classifies in a browser holds.
struct OnnxPage {
  std::string name;                  ///< its heading
  std::vector<std::string> classes;  ///< in the order of their numbers
  std::vector<std::string> titles;   ///< what they are shown as
  Preprocessing images;
  bool uint8 = false;             ///< what the ONNX file takes (OnnxExportOptions::uint8)
  std::string_view model;         ///< the ONNX file
  std::filesystem::path runtime;  ///< the folder `dist` of the npm package onnxruntime-web
};

/// Throws Error for a folder without ONNX Runtime Web, and UsageError for images that the page cannot resize.
void check_onnx_page(const OnnxPage& page);

/// Whether a file is such a page.
bool is_onnx_page(const std::filesystem::path& path);

/// The page (assets/onnx_page), which needs no server and no other file. Throws as check_onnx_page().
std::string onnx_page(const OnnxPage& page);

}  // namespace protocom
