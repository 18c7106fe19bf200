#include "recognizer/occlusion.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "images/image_region.h"

namespace protocom {
namespace {

constexpr double kSmallest = 1e-300;     ///< smaller probabilities have lost digits
constexpr int64_t kMostLookedUp = 2000;  ///< classes

std::array<uint8_t, 3> mean_colour(const Image& image) {
  std::array<double, 3> sums{};
  for (size_t i = 0; i < image.rgb.size(); ++i) sums[i % 3] += image.rgb[i];
  std::array<uint8_t, 3> mean{};
  const double pixels = std::max(1.0, static_cast<double>(image.rgb.size()) / 3);
  for (size_t c = 0; c < 3; ++c) mean[c] = static_cast<uint8_t>(std::lround(sums[c] / pixels));
  return mean;
}

Image with_patch_covered(Image image, int64_t row, int64_t column, const std::array<uint8_t, 3>& colour) {
  const int64_t top = row * image.height / kPatches, bottom = (row + 1) * image.height / kPatches;
  const int64_t left = column * image.width / kPatches, right = (column + 1) * image.width / kPatches;
  for (int64_t y = top; y < bottom; ++y) {
    for (int64_t x = left; x < right; ++x)
      std::copy(colour.begin(), colour.end(), image.rgb.begin() + 3 * (y * image.width + x));
  }
  return image;
}

/// Returns ln p, [n, c]. Probabilities too small for a number are found from their losses.
DoubleMatrix log_probabilities(Recognizer& recognizer, const Array& features) {
  const DoubleMatrix probabilities = recognizer.probabilities(features);
  DoubleMatrix logs = probabilities.array().max(kSmallest).log();
  const std::vector<std::string> names = recognizer.class_names();
  int64_t looked_up = 0;
  for (int64_t k = 0; k < logs.cols() && looked_up < kMostLookedUp; ++k) {
    if (probabilities.col(k).minCoeff() > kSmallest) continue;
    ++looked_up;
    const std::vector<std::string> right(static_cast<size_t>(logs.rows()), names[static_cast<size_t>(k)]);
    const std::vector<TestedImage> judged = recognizer.judge(features, right);
    for (int64_t i = 0; i < logs.rows(); ++i) logs(i, k) = -judged[static_cast<size_t>(i)].loss;
  }
  return logs;
}

/// Returns ln(p / (1 - p)) for a row of ln p, where 1 - p is the sum of the other probabilities: near p = 1 the
/// difference would have no digits left. 0 for a single class, which has no odds.
double log_odds(const DoubleMatrix& logs, int64_t row, int64_t own) {
  if (logs.cols() < 2) return 0;
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (int64_t k = 0; k < logs.cols(); ++k) most = k == own ? most : std::max(most, logs(row, k));
  for (int64_t k = 0; k < logs.cols(); ++k) sum += k == own ? 0 : std::exp(logs(row, k) - most);
  return logs(row, own) - most - std::log(sum);
}

int64_t class_place(Recognizer& recognizer, const std::string& name) {
  const std::vector<std::string>& names = recognizer.class_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) fail("{} has no class '{}'", recognizer.file().path().string(), excerpt(name));
  return found - names.begin();
}

}  // namespace

std::vector<Image> covered_in_turn(const Image& square) {
  std::vector<Image> images = {square};
  const std::array<uint8_t, 3> colour = mean_colour(square);
  for (int64_t row = 0; row < kPatches; ++row) {
    for (int64_t column = 0; column < kPatches; ++column)
      images.push_back(with_patch_covered(square, row, column, colour));
  }
  return images;
}

Occlusion occlusion_of(Recognizer& recognizer, const Array& features, const std::string& class_name) {
  if (recognizer.method().spec().sees == Sees::kAllQueries)
    fail_usage("'{}' classifies images jointly: an explanation needs a method that classifies each image independently",
               recognizer.method().label());
  const DoubleMatrix logs = log_probabilities(recognizer, features);
  int64_t own = 0;
  if (class_name.empty())
    logs.row(0).maxCoeff(&own);
  else
    own = class_place(recognizer, class_name);
  Occlusion found;
  found.class_name = recognizer.class_names()[static_cast<size_t>(own)];
  found.probability = std::min(1.0, std::exp(logs(0, own)));
  const double whole = log_odds(logs, 0, own);
  for (int64_t row = 0; row < kPatches; ++row) {
    std::vector<double>& effects = found.effects.emplace_back();
    for (int64_t column = 0; column < kPatches; ++column)
      effects.push_back(whole - log_odds(logs, 1 + row * kPatches + column, own));
  }
  return found;
}

Occlusion find_occlusion(Recognizer& recognizer, const std::filesystem::path& image, const std::string& class_name) {
  recognizer.class_names();  // fails first if the classes are invalid
  const Image square = read_region(image, recognizer.file().settings().preprocessing).image;
  return occlusion_of(recognizer, recognizer.features_of(covered_in_turn(square)), class_name);
}

nlohmann::json occlusion_json(const Occlusion& occlusion) {
  return {{"class", occlusion.class_name}, {"probability", occlusion.probability}, {"effects", occlusion.effects}};
}

std::string occlusion_text(const Occlusion& occlusion) {
  constexpr std::array<const char*, 5> kShades = {"··", "░░", "▒▒", "▓▓", "██"};
  double most = 0;
  for (const auto& row : occlusion.effects) most = std::max(most, *std::max_element(row.begin(), row.end()));
  std::string text;
  for (const auto& row : occlusion.effects) {
    for (const double effect : row) {
      const double share = most > 0 ? std::max(0.0, effect / most) : 0;
      text += kShades[static_cast<size_t>(std::min(4.0, std::floor(5 * share)))];
    }
    text += '\n';
  }
  return text;
}

}  // namespace protocom
