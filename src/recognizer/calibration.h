#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/progress.h"
#include "protocom/calibration.h"
#include "recognizer/class_scorer.h"
#include "store/calibration_json.h"

namespace protocom {

/// False-accept rates for which a calibration lists the share of own images accepted.
inline constexpr std::array<double, 8> kExchangeRates = {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5};
/// The rates shown by exchange_sentence().
inline constexpr std::array<double, 3> kShownRates = {0.05, 0.1, 0.2};

/// 1 / (1 + exp(slope (familiarity - threshold))): 1/2 at the threshold.
double probability_of_none(const Calibration& calibration, double familiarity);

/// Returns the error rates at the threshold, by leave-one-out: "5 of 100 of your own photos are refused; 38 of 100 of
/// similar kinds pass". `others`: a name for the unknown images.
std::string cost_sentence(const Calibration& calibration, const std::string& others);

/// Returns "at 5 % false accepts, 50 % of your own photos are kept; at 10 %: ...", for kShownRates.
std::string exchange_sentence(const Calibration& calibration);

/// Returns advice if fewer than 60 % of the classes' own images are accepted; else empty.
std::string warning_of_few_kept(const Calibration& calibration);

/// Returns a hash of a set of class names, independent of their order.
std::string hash_of_names(std::vector<std::string> names);

/// Returns a hash of the numbers of classes in a file, which do not change when classes are renamed.
std::string hash_of_ids(const std::vector<int64_t>& ids);

/// Whether the calibration was made with the classes of these numbers, or of these names; one without names matches if
/// the number of classes is equal.
bool is_of_classes(const Calibration& calibration, const std::vector<std::string>& names,
                   const std::vector<int64_t>& ids);

/// Returns the part of a calibration that is valid for a method. For the method it was made for: all of it. For a
/// method that uses the same fitted files and has no calibration of its own: the threshold, with factor 1. Its
/// probabilities are those of the fit, and a familiarity against an unseen class is the same for both
/// (plda and plda-vb). Otherwise nothing.
std::optional<Calibration> calibration_for(const Method& method, Calibration calibration);

/// Returns each image's score for belonging to any of the classes: the log odds against an unseen class if the method
/// has them (EpisodeScores::unseen), else the highest logit. float64 [n], for scores of one episode.
DoubleVector familiarity(const QueryScores& scores);

/// Settings of a calibration.
struct CalibrationOptions : CalibrateOptions {
  /// Whether to find the threshold alone: not the factor (it is 1 then), and the share of similar kinds that pass only
  /// if the threshold needs it.
  bool threshold_alone = false;
  bool for_good = false;       ///< undoing earlier changes keeps it (RecognizerFile::set_calibration_for_good)
  int64_t most_images = 1000;  ///< images held out one by one, sampled evenly; more only take longer
  int64_t most_classes = 200;  ///< classes held out one by one, sampled evenly
};

/// Calibrates on the enrolled images, one of each moment (moments.h). Each is classified as if its moment had not been
/// enrolled, which gives the accuracy and the factor: the maximum of the likelihood of the true classes, with a normal
/// prior of standard deviation 1 on its logarithm. The images of each class are also scored as if the class had not
/// been enrolled, which makes them unknown images; `others`, float32 [n, d], if defined, are used instead. The
/// threshold lies below at least 95 % of new images of the classes (own_threshold); if fewer than kFewestHeldOut can be
/// held out, it lies below as large a share of the images of left-out classes, which are less familiar than images of
/// the classes. With `others`, a rate or `similar` it is a conformal quantile of unknown images for the rate, or the
/// balanced threshold. Throws Error if features were not kept, no class has two moments, or there are too few unknown
/// images for the rate; UsageError for a rate outside (0, 1).
Calibration calibrate(const ClassScorer& scorer, const Array& others, const CalibrationOptions& options,
                      Progress& progress);

}  // namespace protocom
