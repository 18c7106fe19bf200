// A recognizer's leave-one-out measurements on its enrolled photos: accuracy, labels, calibration.
#include <algorithm>

#include "base/error.h"
#include "base/log.h"
#include "encoders/embed.h"
#include "recognizer/label_check.h"
#include "recognizer/recognizer.h"
#include "store/database_error.h"

namespace protocom {
namespace fs = std::filesystem;
namespace {

/// Least number of photos for the threshold that is set without a calibration.
constexpr int64_t kFewestFirstPhotos = 10;

bool holds(const std::vector<int64_t>& ascending, int64_t id) {
  return std::binary_search(ascending.begin(), ascending.end(), id);
}

}  // namespace

LabelCheck Recognizer::check_labels(Progress& progress) {
  refresh();
  LabelCheck check = protocom::check_labels(*scorer_, snapshot_, calibration_ ? calibration_->factor : 1.0, progress);
  const std::vector<int64_t> confirmed = file_.confirmed_examples();
  const auto is_right = [&](const MisplacedImage& one) { return holds(confirmed, one.example); };
  check.misplaced.erase(std::remove_if(check.misplaced.begin(), check.misplaced.end(), is_right),
                        check.misplaced.end());
  check.shared = images_in_two_classes(file_, snapshot_);
  return check;
}

ExpectedAccuracy Recognizer::expected_accuracy(Progress& progress) {
  refresh();
  ExpectedAccuracy expected = protocom::expected_accuracy(*scorer_, progress);
  if (expected.asked > 0 && file_.settings().moments) expected.nearly_same = count_like_one_moment(snapshot_.enrolled);
  const std::vector<std::string>& names = scorer_->class_names();
  const std::vector<int64_t> confirmed = file_.confirmed_examples();
  for (LeftOutMistake& mistake : expected.mistakes) {
    const auto own = static_cast<size_t>(std::find(names.begin(), names.end(), mistake.class_name) - names.begin());
    mistake.example = snapshot_.examples[own][static_cast<size_t>(mistake.image)].id;
    mistake.confirmed = holds(confirmed, mistake.example);
  }
  return expected;
}

std::vector<LeftOutPhoto> Recognizer::left_out_photos() {
  refresh();
  std::vector<LeftOutPhoto> photos;
  for (const LeftOutImage& one : left_out_images(*scorer_)) {
    const KeptExample& kept = snapshot_.examples[static_cast<size_t>(one.own)][static_cast<size_t>(one.image)];
    photos.push_back({one, kept.source, file_.example(kept.id).hash});
  }
  return photos;
}

LeftOutComparison Recognizer::compare_left_out(const std::vector<LeftOutPhoto>& photos, const Array& others) {
  refresh();
  std::vector<LeftOutImage> images;
  for (const LeftOutPhoto& one : photos) images.push_back(one.place);
  return protocom::compare_left_out(*scorer_, images, others);
}

Calibration Recognizer::calibrate(const std::vector<fs::path>& others, const CalibrationOptions& options,
                                  Progress& progress, std::vector<UnreadableFile>* unreadable) {
  if (others.empty()) return calibrate_on({}, options, progress);
  refresh();
  const EmbeddedFiles files = embed_files(backbone(), others, extract_options(), progress);
  if (!files.unreadable.empty() && (unreadable == nullptr || files.numbers.empty()))
    fail("{}", files.unreadable.front().reason);
  if (unreadable != nullptr) *unreadable = files.unreadable;
  return calibrate_on(files.features, options, progress);
}

std::optional<Calibration> Recognizer::take_first_threshold(const std::vector<fs::path>& others, FirstThreshold kind,
                                                            Progress& progress) {
  CalibrationOptions options;
  options.threshold_alone = true;
  options.for_good = kind == FirstThreshold::kForGood;
  options.most_classes = 50;
  refresh();
  int64_t photos = 0;
  for (size_t k = 0; k < scorer_->class_names().size(); ++k) photos += scorer_->count(static_cast<int64_t>(k));
  if (others.empty() && photos < kFewestFirstPhotos) return std::nullopt;
  std::vector<UnreadableFile> unreadable;
  try {
    return calibrate(others, options, progress, &unreadable);
  } catch (const DatabaseError&) {
    throw;  // a full disk or a damaged file, not too few photos
  } catch (const Error& error) {
    if (!others.empty()) logger().warn("ignoring the photos of other things: {}", error.what());
    return std::nullopt;
  }
}

Calibration Recognizer::calibrate_on(const Array& others, const CalibrationOptions& options, Progress& progress) {
  refresh();
  Calibration made = protocom::calibrate(*scorer_, others, options, progress);
  made.class_ids = hash_of_ids(snapshot_.class_ids);
  if (options.for_good)
    file_.set_calibration_for_good(to_json(made));
  else if (options.threshold_alone)
    file_.set_calibration_with_last_change(to_json(made));
  else
    file_.set_calibration(to_json(made));
  return made;
}

}  // namespace protocom
