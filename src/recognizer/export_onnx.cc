#include "recognizer/export_onnx.h"

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "encoders/onnx_file.h"
#include "encoders/onnx_file_kind.h"
#include "io/artefact.h"
#include "io/derived_output.h"
#include "io/files.h"
#include "io/json.h"
#include "io/unfinished.h"
#include "io/write_together.h"
#include "recognizer/detail/onnx_content.h"
#include "recognizer/detail/onnx_page.h"
#include "recognizer/recognizer.h"
#include "store/calibration_json.h"
#include "store/recognizer_id.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Files beside the ONNX file, each with the function that makes its text from it.
using BesideFiles = std::vector<std::pair<fs::path, std::function<std::string(const OnnxContent&)>>>;

/// model.onnx -> model.labels.txt
fs::path labels_beside(const fs::path& model) {
  fs::path labels = model;
  labels.replace_extension(".labels.txt");
  return labels;
}

constexpr size_t kDigits = 16;
constexpr std::string_view kDataSuffix = ".data";

/// Returns the path for weights: model.onnx -> model.onnx.0123456789abcdef.data, with a hash of what the weights are
/// made from, so that a kill between renaming two files never leaves a file beside the weights of another.
fs::path data_beside(const fs::path& model, Recognizer& recognizer, const OnnxExportOptions& options) {
  const std::string of = fmt::format("{} {} {} {} {} {}", hash_file(recognizer.file().path()), program_version(),
                                     recognizer.method().label(), options.features, options.half, options.int8);
  fs::path data = model;
  data += "." + hash_bytes(of).substr(0, kDigits);
  data += kDataSuffix;
  return data;
}

/// Whether a file of this folder may have been named by data_beside().
bool is_data_name(const std::string& name, const fs::path& model) {
  const std::string begin = model.filename().string() + ".";
  return name.size() == begin.size() + kDigits + kDataSuffix.size() && name.compare(0, begin.size(), begin) == 0 &&
         name.find_first_not_of("0123456789abcdef", begin.size()) == begin.size() + kDigits &&
         name.compare(begin.size() + kDigits, kDataSuffix.size(), kDataSuffix) == 0;
}

std::string labels_text(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += one_line(name) + '\n';  // protects against a damaged recognizer
  return text;
}

/// Removes the temporary weights of killed exports, also of other states of the recognizer.
void remove_leftovers_of_data(const fs::path& model) {
  const size_t length = model.filename().string().size() + 1 + kDigits + kDataSuffix.size();
  std::error_code error;
  for (fs::directory_iterator entry(model.has_parent_path() ? model.parent_path() : ".", error), end;
       !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string().substr(0, length);
    if (is_data_name(name, model)) remove_leftovers(entry->path().parent_path() / name);
  }
}

/// Properties of an existing ONNX file that an export may replace.
struct Earlier {
  std::string id = {};      ///< id of the recognizer it was made from; empty for other files
  std::string labels = {};  ///< text of its file of labels
  std::string data = {};    ///< its file of weights; empty: none
};

Earlier earlier_at(const fs::path& path) {
  try {
    if (!is_onnx_file(path)) return {};
    auto metadata = onnx::read_outline(path).metadata;
    const std::string id = parse_json(metadata[kRecognizerKey], path.string()).value("id", "");
    const auto classes = parse_json(metadata.at(kClassesKey), path.string()).get<std::vector<std::string>>();
    return {id, labels_text(classes), metadata[kDataKey]};
  } catch (const std::exception&) {
    return {};
  }
}

/// Throws Error unless a path chosen by protocom is absent or a plain file.
void check_derived(const fs::path& path) {
  refuse_link(path);
  std::error_code ignored;
  if (fs::exists(path, ignored) && !fs::is_regular_file(path, ignored))
    fail("cannot write {}: it is not a plain file", path.string());
}

/// Whether a file of labels is that of an earlier export, or equals the one about to be written.
bool are_labels(const fs::path& path, const Earlier& earlier, const std::string& now) {
  const MappedFile file(path);
  return file.bytes().empty() || file.bytes() == earlier.labels || file.bytes() == now;
}

/// Throws Error if a file that this recognizer did not write would be lost. `id`: the recognizer's; `now`: the new
/// labels.
void check_way(const fs::path& model, const fs::path& labels, const Earlier& earlier, const std::string& id,
               const std::string& now) {
  std::error_code ignored;
  if (fs::exists(model, ignored) && !fs::is_regular_file(model, ignored))
    fail("cannot write {}: expected the name of a file, beside which its labels are written", model.string());
  const bool is_there = fs::is_regular_file(model, ignored) && fs::file_size(model, ignored) > 0;
  if (is_there && earlier.id != id)
    fail("{} exists and is not an export of this recognizer: choose another name, or remove it", model.string());
  check_derived(labels);
  const bool are_kept = fs::is_regular_file(labels, ignored) && !are_labels(labels, earlier, now);
  if (are_kept && !is_there) check_absent(labels);
  if (are_kept)
    fail("{} exists and is not the labels of {}: choose another name, or remove it", labels.string(), model.string());
  check_writable(model);
  check_writable(labels);
}

/// Removes labels that differ, during the replacement: missing labels are noticed, labels of another model are not.
void remove_other_labels(const fs::path& labels, const std::string& now) {
  std::error_code ignored;
  if (fs::is_regular_file(labels, ignored) && MappedFile(labels).bytes() != now) fs::remove(labels, ignored);
}

void check_page_options(const OnnxExportOptions& options) {
  if (options.page.empty()) return;
  if (options.features) fail_usage("a page needs the encoder in its ONNX file: leave out features");
  if (options.runtime.empty())
    fail_usage("a page needs ONNX Runtime Web: give the folder 'dist' of the npm package onnxruntime-web (runtime)");
  if (options.external_data) fail_usage("a page needs its ONNX file in one piece: leave out external_data");
}

/// Returns the content with all weights inside; nothing if that is too large for one file, or not requested.
std::optional<OnnxContent> whole_content(Recognizer& recognizer, const OnnxExportOptions& options, int64_t most_bytes) {
  if (options.external_data) return std::nullopt;
  const auto inside = std::make_shared<onnx::TensorStore>(most_bytes);
  try {
    return onnx_content(recognizer, options, inside);
  } catch (const Error& error) {
    if (!inside->is_exceeded()) throw;
    if (!options.page.empty()) fail("{}; a page needs it in one piece", error.what());
    return std::nullopt;
  }
}

/// The files of an export.
struct ExportedFiles {
  fs::path model, data;
  BesideFiles beside;
  std::function<void()> before = {};  ///< of write_together()
};

/// Writes the ONNX file and the files beside it: all, or none. Weights come first, labels last.
OnnxContent write_files(Recognizer& recognizer, const OnnxExportOptions& options, std::optional<OnnxContent> whole,
                        const ExportedFiles& files) {
  std::vector<fs::path> paths;
  for (const auto& [path, text] : files.beside) paths.push_back(path);
  paths.push_back(files.model);
  if (!whole) paths.push_back(files.data);
  const auto write = [&](const std::vector<fs::path>& made) {
    if (!whole)
      whole = onnx_content(recognizer, options,
                           std::make_shared<onnx::TensorStore>(made.back(), files.data.filename().string()));
    const size_t beside = files.beside.size();
    for (size_t i = 0; i < beside; ++i) write_file(made[i], files.beside[i].second(*whole));
    write_file(made[beside], whole->bytes);
  };
  write_together(paths, write, files.before);
  return *std::move(whole);
}

}  // namespace

/// Returns the page for an ONNX file, without the file's bytes.
OnnxPage page_of(Recognizer& recognizer, const OnnxExportOptions& options) {
  OnnxPage page;
  page.name = recognizer.file().path().stem().string();
  page.classes = recognizer.class_names();
  page.titles = recognizer.class_titles();
  page.images = recognizer.file().settings().preprocessing;
  page.uint8 = options.uint8;
  page.runtime = options.runtime;
  return page;
}

/// Throws if the page cannot be written. One of an earlier export is overwritten.
void check_page(const fs::path& path, const OnnxPage& page) {
  check_onnx_page(page);
  std::error_code ignored;
  if (fs::exists(path, ignored) && !is_onnx_page(path)) check_absent(path);
  check_writable(path);
}

OnnxContent onnx_content(Recognizer& recognizer, const OnnxExportOptions& options) {
  return onnx_content(recognizer, options, std::make_shared<onnx::TensorStore>());
}

std::string onnx_labels(Recognizer& recognizer) { return labels_text(recognizer.class_names()); }

int64_t write_onnx(Recognizer& recognizer, const fs::path& path, const OnnxExportOptions& options) {
  auto whole = whole_content(recognizer, options, onnx::kMostBytes);
  const bool apart = !whole;
  const fs::path data = data_beside(path, recognizer, options);
  write_files(recognizer, options, std::move(whole), {path, data, {}});
  return static_cast<int64_t>(fs::file_size(path) + (apart ? fs::file_size(data) : 0));
}

/// Logs the warnings for an export's result.
void warn_about(Recognizer& recognizer, const OnnxContent& content) {
  const std::string path = recognizer.file().path().string();
  if (const auto made = recognizer.file().calibration(); made && !recognizer.calibration())
    logger().warn("{} is calibrated for '{}', not for '{}': the ONNX file has no output 'none_of_these'", path,
                  calibration_from(*made, path).method, recognizer.method().label());
  else if (!made)
    logger().warn("{} is not calibrated: the ONNX file has no output 'none_of_these' (protocom calibrate)", path);
  if (content.at_once > 0)
    logger().warn("fixed batch: the encoder's graph takes {} images at once, and so does the ONNX file",
                  content.at_once);
}

OnnxExport export_onnx(Recognizer& recognizer, const fs::path& path, const OnnxExportOptions& options,
                       int64_t most_bytes) {
  check_onnx_options(options);
  check_page_options(options);
  const fs::path labels = labels_beside(path);
  const Earlier earlier = earlier_at(path);
  const std::string names = onnx_labels(recognizer);  // throws if there is no class
  check_way(path, labels, earlier, recognizer_id(recognizer.file()), names);
  const fs::path data = data_beside(path, recognizer, options);
  OnnxPage page = page_of(recognizer, options);
  if (!options.page.empty()) check_page(options.page, page);
  std::optional<OnnxContent> whole = whole_content(recognizer, options, most_bytes);
  const bool apart = !whole;
  if (apart) check_derived(data);
  remove_leftovers_of_data(path);
  ExportedFiles files{path, data, {{labels, [](const OnnxContent& one) { return labels_text(one.classes); }}}};
  if (!options.page.empty()) {
    files.beside.emplace_back(options.page, [&page](const OnnxContent& one) {
      page.model = one.bytes;
      return onnx_page(page);
    });
  }
  files.before = [&] { remove_other_labels(labels, names); };
  const OnnxContent content = write_files(recognizer, options, std::move(whole), files);
  const bool is_left = is_data_name(earlier.data, path) && (!apart || earlier.data != data.filename().string());
  std::error_code ignored;
  if (is_left) fs::remove(path.parent_path() / earlier.data, ignored);
  warn_about(recognizer, content);
  OnnxExport made;
  made.model = path.string();
  made.labels = labels.string();
  if (apart) made.data = data.string();
  made.page = options.page;
  made.input = content.input;
  made.outputs = content.outputs;
  made.bytes = static_cast<int64_t>(content.bytes.size());
  made.classes = static_cast<int64_t>(content.classes.size());
  return made;
}

}  // namespace protocom
