#include "recognizer/export_loss.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "base/evenly.h"
#include "encoders/embed.h"
#include "encoders/encoder.h"
#include "images/image_files.h"
#include "io/artefact.h"
#include "io/scratch_folder.h"
#include "recognizer/export_onnx.h"
#include "recognizer/recognizer.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

constexpr int64_t kMostAsked = 500;

/// Files by their hashes.
using Files = std::map<std::string, fs::path>;

/// Unchanged photos, each with its file.
struct FoundPhotos {
  std::vector<LeftOutPhoto> photos;
  std::vector<fs::path> files;
};

Files files_in(const std::vector<std::string>& folders) {
  Files files;
  if (folders.empty()) return files;
  for (const fs::path& path : find_images(folders).paths) files.emplace(hash_file(path), path);
  return files;
}

/// Returns the photo's file; empty if it no longer exists.
fs::path file_of(const LeftOutPhoto& photo, const Files& files, bool in_folders) {
  if (in_folders) {
    const auto found = files.find(photo.hash);
    return found == files.end() ? fs::path() : found->second;
  }
  std::error_code ignored;
  const bool is_same = fs::is_regular_file(photo.source, ignored) && hash_file(photo.source) == photo.hash;
  return is_same ? fs::path(photo.source) : fs::path();
}

FoundPhotos found_photos(const std::vector<LeftOutPhoto>& all, const std::vector<std::string>& folders) {
  const Files files = files_in(folders);
  FoundPhotos found;
  for (const int64_t i : evenly(static_cast<int64_t>(all.size()), kMostAsked)) {
    const LeftOutPhoto& photo = all[static_cast<size_t>(i)];
    fs::path file = file_of(photo, files, !folders.empty());
    if (file.empty()) continue;
    found.photos.push_back(photo);
    found.files.push_back(std::move(file));
  }
  return found;
}

/// A temporary exported file.
struct ExportedFile {
  ExportedFile(Recognizer& recognizer, const OnnxExportOptions& options)
      : path(folder.path() / "exported.onnx"), bytes(write_onnx(recognizer, path, options)) {}
  /// Returns an encoder that computes one of its outputs.
  [[nodiscard]] std::unique_ptr<Encoder> encoder(const std::string& output) const {
    EncoderFileOptions asked;
    asked.output = output;
    return open_encoder(path, asked);
  }
  ScratchFolder folder;
  fs::path path;
  int64_t bytes;
};

double milliseconds_of(Encoder& encoder, const Array& image) {
  const auto began = std::chrono::steady_clock::now();
  encoder.features(image);
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<int64_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Measures the two alternately, so that other load on the machine slows both.
FileTimes measure_times(const ExportedFile& whole, const ExportedFile& smaller) {
  constexpr size_t kTimes = 9;
  const auto first = whole.encoder("probabilities"), second = smaller.encoder("probabilities");
  const Array image = Array::zeros({1, first->image_size(), first->image_size(), 3}, NumberType::kUInt8);
  std::vector<double> of_whole, of_smaller;
  for (Encoder* one : {first.get(), second.get()}) one->features(image);  // warm-up
  while (of_whole.size() < kTimes) {
    of_whole.push_back(milliseconds_of(*first, image));
    of_smaller.push_back(milliseconds_of(*second, image));
  }
  return {median_of(of_whole), median_of(of_smaller), first->engine()};
}

/// Leaves out photos that can no longer be read.
Array features_by(const ExportedFile& exported, FoundPhotos& found, Progress& progress) {
  EmbeddedFiles embedded = embed_files(*exported.encoder("feature"), found.files, {}, progress);
  FoundPhotos read;
  for (const size_t i : embedded.numbers) read.photos.push_back(found.photos[i]);
  found = std::move(read);
  return embedded.features;
}

}  // namespace

ExportLoss export_loss(Recognizer& recognizer, const OnnxExportOptions& options,
                       const std::vector<std::string>& folders, Progress& progress) {
  OnnxExportOptions whole = options, asked = options;
  whole.half = whole.int8 = whole.uint8 = asked.uint8 = false;
  asked.with_feature = true;
  ExportLoss loss;
  const ExportedFile as_float32(recognizer, whole), smaller(recognizer, asked);
  loss.bytes = as_float32.bytes;
  loss.times = measure_times(as_float32, smaller);
  const std::vector<LeftOutPhoto> all = recognizer.left_out_photos();
  loss.photos = static_cast<int64_t>(all.size());
  FoundPhotos found = found_photos(all, folders);
  if (found.files.empty()) return loss;
  const Array features = features_by(smaller, found, progress);
  if (!found.photos.empty()) loss.answers = recognizer.compare_left_out(found.photos, features);
  return loss;
}

std::string sentence_of(const ExportLoss& loss) {
  const LeftOutComparison& answers = loss.answers;
  const std::string size =
      fmt::format("{:.1f} MB and {:.1f} ms a photo as float32, {:.1f} ms with smaller weights ({} here)",
                  static_cast<double>(loss.bytes) / 1e6, loss.times.whole, loss.times.smaller, loss.times.engine);
  if (answers.asked == 0)
    return size + "; the effect on accuracy was not measured: none of its photos was found (--images FOLDER)";
  const double percent = 100 / static_cast<double>(answers.asked);
  return fmt::format(
      "{}; leave-one-out accuracy on {} photos: {:.1f} % as float32, {:.1f} % with smaller weights; answers that "
      "change: {}",
      size, answers.asked, percent * static_cast<double>(answers.right),
      percent * static_cast<double>(answers.right_by_others), answers.changed);
}

}  // namespace protocom
