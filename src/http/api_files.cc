#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "http/detail/api.h"
#include "http/detail/target.h"
#include "recognizer/export_onnx.h"

namespace protocom::http {
namespace fs = std::filesystem;
namespace {

/// Limit of files sent whole: they are in memory, up to three times while they are made.
constexpr int64_t kLargestFile = int64_t{256} << 20;

constexpr const char* kExportThere = "run protocom recognizer export-onnx";

/// Returns the name under which a browser saves the file.
std::pair<std::string, std::string> saved_as(const fs::path& name) {
  return {"Content-Disposition", "attachment; filename*=UTF-8''" + percent_encoded(name.string())};
}

Response file_response(std::string bytes, const fs::path& name) {
  return {200, "application/octet-stream", std::move(bytes), {saved_as(name)}};
}

/// Throws HttpError if a file is too large. `remedy`: what to do on the server's machine.
void check_size(const char* what, int64_t bytes, const char* remedy) {
  if (bytes <= kLargestFile) return;
  refuse(413, "{} has {} MB, downloads have at most {} MB: {} on the server's machine", what, bytes >> 20,
         kLargestFile >> 20, remedy);
}

int64_t size_of(const RecognizerArtefact& artefact) {
  std::error_code ignored;  // opening the file reports why
  return artefact.embedded ? artefact.size : static_cast<int64_t>(fs::file_size(artefact.path, ignored));
}

/// Returns the value of a query parameter, one of `choices`; the first if it is left out.
std::string choice_in(const Request& request, const char* name, const std::vector<std::string>& choices) {
  const auto found = request.parameters.find(name);
  if (found == request.parameters.end()) return choices.front();
  if (std::find(choices.begin(), choices.end(), found->second) == choices.end())
    refuse(400, "'{}': expected {}, found '{}'", name, fmt::join(choices, " or "), excerpt(found->second));
  return found->second;
}

OnnxExportOptions onnx_options(const Request& request) {
  OnnxExportOptions options;
  const std::string input = choice_in(request, "input", {"image", "uint8", "features"});
  options.uint8 = input == "uint8";
  options.features = input == "features";
  const std::string weights = choice_in(request, "weights", {"float32", "float16", "int8"});
  options.half = weights == "float16";
  options.int8 = weights == "int8";
  return options;
}

}  // namespace

Response Api::file_of_recognizer(const Request& request) {
  return with_editor(request, [&](const Recognizer& editor) {
    check_size("the recognizer", editor.file().serialized_size(), "copy the file");
    return file_response(editor.file().serialized(), path_.filename());
  });
}

Response Api::onnx_of_recognizer(const Request& request) {
  const OnnxExportOptions options = onnx_options(request);
  const fs::path name = path_.filename();
  if (choice_in(request, "file", {"onnx", "labels"}) == "labels")
    return with_own_recognizer(request, exports_, [&](Recognizer& recognizer) {
      return file_response(onnx_labels(recognizer), fs::path(name).replace_extension(".labels.txt"));
    });
  OnnxContent content = with_own_recognizer(request, exports_, [&](Recognizer& recognizer) {
    if (const RecognizerArtefact* encoder = recognizer.file().artefact("backbone");
        encoder != nullptr && !options.features)
      check_size("its encoder", size_of(*encoder), kExportThere);
    return onnx_content(recognizer, options);
  });
  check_size("the ONNX file", static_cast<int64_t>(content.bytes.size()), kExportThere);
  return file_response(std::move(content.bytes), fs::path(name).replace_extension(".onnx"));
}

}  // namespace protocom::http
