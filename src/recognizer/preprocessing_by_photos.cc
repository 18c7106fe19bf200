#include "recognizer/preprocessing_by_photos.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/log.h"
#include "encoders/encoder.h"
#include "encoders/preprocessing_trial.h"
#include "eval/statistics.h"
#include "images/image_files.h"

namespace protocom {
namespace {

// Few enough that five presets take seconds on one core.
constexpr int64_t kMostClasses = 8;
constexpr int64_t kMostPhotos = 5;  // per class

EncoderFileOptions encoder_options_with(const RecognizerParts& parts, const std::string& preset) {
  EncoderFileOptions asked;
  if (!preset.empty()) asked.preprocessing = parse_preprocessing(preset);
  asked.output = parts.output;
  return asked;
}

/// Returns empty if none can be found; enrolment reports why.
std::vector<std::filesystem::path> photos_of(const EnrolRequest& request) {
  try {
    return request.images.empty() ? std::vector<std::filesystem::path>() : find_images(request.images).paths;
  } catch (const Error&) {
    return {};
  }
}

/// Returns the classes with two photos or more, all as base classes; nothing if there are fewer than two.
std::optional<ImageDataset> comparable(const std::vector<EnrolRequest>& classes) {
  ImageDataset photos;
  for (const EnrolRequest& request : classes) {
    const std::vector<std::filesystem::path> paths = photos_of(request);
    if (paths.size() < 2) continue;
    for (const auto& path : paths)
      photos.items.push_back({path.string(), path, static_cast<int64_t>(photos.class_names.size())});
    photos.class_names.push_back(request.name);
    photos.class_split.push_back(Split::kBase);
  }
  return photos.class_names.size() < 2 ? std::nullopt : std::optional(std::move(photos));
}

std::vector<PreprocessingTrial> run_trials(const RecognizerParts& parts, const ImageDataset& photos,
                                           const std::vector<std::string>& presets, Progress& progress) {
  PreprocessingTrials trials;
  trials.presets = presets;
  trials.output = parts.output;
  trials.classes = kMostClasses;
  trials.images = kMostPhotos;
  trials.extract.device = parts.device;
  return try_preprocessing(parts.backbone, photos, trials, progress);
}

double right_of(const PreprocessingTrial& trial) { return estimate(trial.right).value; }

bool is_clearly_better(const PreprocessingTrial& one, const PreprocessingTrial& than) {
  const Estimate ahead = paired_difference(one.right, than.right);
  return ahead.value > 0 && ahead.value > ahead.ci95;
}

const PreprocessingTrial& best_trial(const std::vector<PreprocessingTrial>& trials) {
  return *std::max_element(trials.begin(), trials.end(),
                           [](const auto& a, const auto& b) { return right_of(a) < right_of(b); });
}

/// Returns "38 of 40".
std::string count_text(const PreprocessingTrial& trial) {
  const auto right = std::count_if(trial.right.begin(), trial.right.end(), [](double one) { return one > 0; });
  return fmt::format("{} of {}", right, trial.right.size());
}

bool states_its_images(const RecognizerParts& parts) {
  try {
    open_encoder(parts.backbone, encoder_options_with(parts, ""));
    return true;
  } catch (const UnstatedPreprocessing&) {
    return false;
  }
}

/// Returns common_presets, the most common among encoders first, which decides ties.
std::vector<std::string> ordered_presets(int64_t image_size) {
  std::vector<std::string> presets = common_presets(image_size);
  const auto place = [](const std::string& preset) { return preset.rfind("imagenet", 0) == 0 ? 0 : 1; };
  std::stable_sort(presets.begin(), presets.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
  return presets;
}

}  // namespace

std::string preprocessing_by_photos(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes,
                                    Progress& progress) {
  const std::optional<ImageDataset> photos = comparable(classes);
  if (!photos) return {};
  const int64_t side = open_encoder(parts.backbone, encoder_options_with(parts, "plain"))->image_size();
  const std::vector<PreprocessingTrial> trials = run_trials(parts, *photos, ordered_presets(side), progress);
  const PreprocessingTrial& best = best_trial(trials);
  std::vector<std::string> level;
  for (const PreprocessingTrial& trial : trials) {
    if (&trial != &best && !is_clearly_better(best, trial)) level.push_back(trial.preset);
  }
  logger().warn(
      "{} does not state its preprocessing: using '{}', with which {} photos are nearest to the mean of their class{} "
      "(--preprocess overrides it)",
      parts.backbone.string(), best.preset, count_text(best),
      level.empty() ? "" : fmt::format("; equally good: {}", fmt::join(level, ", ")));
  return best.preset;
}

void compare_preprocessing(const RecognizerParts& parts, const std::vector<EnrolRequest>& classes, Progress& progress) {
  const std::optional<ImageDataset> photos = comparable(classes);
  if (!photos || states_its_images(parts)) return;
  const Preprocessing taken =
      open_encoder(parts.backbone, encoder_options_with(parts, parts.preprocessing))->preprocessing();
  // For an encoder with a fixed input size, the preset has that size.
  std::vector<std::string> presets = ordered_presets(taken.image_size);
  const auto is_taken = [&](const std::string& preset) { return parse_preprocessing(preset) == taken; };
  if (std::none_of(presets.begin(), presets.end(), is_taken)) {
    if (!is_taken(parts.preprocessing)) return;
    presets.push_back(parts.preprocessing);
  }
  const std::vector<PreprocessingTrial> trials = run_trials(parts, *photos, presets, progress);
  const auto given = std::find_if(trials.begin(), trials.end(),
                                  [&](const PreprocessingTrial& trial) { return trial.preprocessing == taken; });
  const PreprocessingTrial& best = best_trial(trials);
  if (!is_clearly_better(best, *given)) return;
  logger().warn(
      "--preprocess {} may be the wrong one: with it {} photos are nearest to the mean of their class, with {} {} (see "
      "what {} was trained with)",
      parts.preprocessing, count_text(*given), best.preset, count_text(best), parts.backbone.string());
}

}  // namespace protocom
