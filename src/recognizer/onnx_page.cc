#include "recognizer/detail/onnx_page.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json_text.h"
#include "base/text.h"
#include "io/base64.h"
#include "io/files.h"
#include "io/gzip.h"

namespace protocom {

std::string_view embedded_onnx_page(std::string_view stem);

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The file of onnxruntime-web, from 1.19 on, with all of its JavaScript, and its compiled module.
constexpr const char* kScript = "ort.wasm.bundle.min.mjs";
constexpr const char* kCompiled = "ort-wasm-simd-threaded.wasm";

/// A line of every such page, near its beginning.
constexpr const char* kMark = R"(<meta name="generator" content="protocom recognizer export-onnx">)";

/// Returns JSON that is safe inside a page's script: no tag begins in it.
std::string in_script(const json& document) { return replaced(json_text(document), "<", "\\u003c"); }

json page_data(const OnnxPage& page) {
  json known = {{"name", page.name},
                {"classes", page.classes},
                {"titles", page.titles},
                {"image_size", page.images.image_size},
                {"resize", page.images.shorter_side()},
                {"squeeze", page.images.squeeze},
                {"uint8", page.uint8}};
  if (page.images.resampling != Resampling::kBilinear) known["resampling"] = to_string(page.images.resampling);
  return known;
}

/// Returns bytes in the encoding that the page reads.
std::string held(std::string_view bytes) { return base64(gzipped(bytes)); }

/// Inserts a text at its placeholder, which occurs once.
void fill(std::string& page, const std::string& name, const std::string& text) {
  const std::string place = "{{" + name + "}}";
  page.replace(page.find(place), place.size(), text);
}

}  // namespace

void check_onnx_page(const OnnxPage& page) {
  if (page.images.resampling == Resampling::kNearest)
    fail_usage("nearest-neighbour resizing, which the encoder needs, is not supported by the page");
  for (const char* file : {kScript, kCompiled}) {
    std::error_code ignored;
    if (!fs::is_regular_file(page.runtime / file, ignored))
      fail("missing {}: expected the folder 'dist' of the npm package onnxruntime-web (npm install onnxruntime-web)",
           (page.runtime / file).string());
  }
}

bool is_onnx_page(const fs::path& path) {
  std::ifstream in(path);
  for (std::string line; std::getline(in, line) && line.size() < 1000;) {
    if (line == kMark) return true;
  }
  return false;
}

std::string onnx_page(const OnnxPage& page) {
  check_onnx_page(page);
  std::string made(embedded_onnx_page("index"));
  for (const char* part : {"style", "main"}) fill(made, part, std::string(embedded_onnx_page(part)));
  fill(made, "runtime", held(read_file(page.runtime / kScript)));
  fill(made, "wasm", held(read_file(page.runtime / kCompiled)));
  fill(made, "model", held(page.model));
  fill(made, "known", in_script(page_data(page)));
  return made;
}

}  // namespace protocom
