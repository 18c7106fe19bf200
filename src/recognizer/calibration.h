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

/// False-accept rates for which a calibration lists the share of own images kept.
inline constexpr std::array<double, 8> kExchangeRates = {0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5};
/// Those of them in exchange_sentence().
inline constexpr std::array<double, 3> kShownRates = {0.05, 0.1, 0.2};

/// 1 / (1 + exp(slope (familiarity - threshold))): 1/2 at the threshold.
double probability_of_none(const Calibration& calibration, double familiarity);

/// "5 of 100 of your own photos are refused; 38 of 100 of similar kinds pass": the error rates at the threshold, by
/// leave-one-out. `others`: a name for the images of none of the classes.
std::string cost_sentence(const Calibration& calibration, const std::string& others);

/// "at 5 % false accepts 50 % of your own photos are kept; at 10 %: ...", at kShownRates.
std::string exchange_sentence(const Calibration& calibration);

/// What to do where fewer than 60 % of the classes' own images are kept; else empty.
std::string warning_of_few_kept(const Calibration& calibration);

/// One text for a set of class names, whatever their order.
std::string hash_of_names(std::vector<std::string> names);

/// One text for the numbers of classes in a file, which stay when classes are renamed.
std::string hash_of_ids(const std::vector<int64_t>& ids);

/// Whether it was made with the classes of these names, or of these numbers, if it has them.
bool is_of_classes(const Calibration& calibration, const std::vector<std::string>& names,
                   const std::vector<int64_t>& ids);

/// What of a calibration counts for a method: all of it for the one it was made for. For one that takes the fitted
/// files of that and has no setting of its own the threshold, with the factor 1: its probabilities are those of the
/// fit, and where the familiarity is that against a class never seen it is the same for both (plda and plda-vb). Else
/// nothing.
std::optional<Calibration> calibration_for(const Method& method, Calibration calibration);

/// An image's score for belonging to any of the classes: the log odds against an unseen class if the method has them
/// (EpisodeScores::unseen), else the highest logit. float64 [n] of scores of one episode.
DoubleVector familiarity(const QueryScores& scores);

/// How a calibration is made.
struct CalibrationOptions : CalibrateOptions {
  /// Finds neither the factor (1 then) nor the share of similar kinds that pass, unless the threshold needs it.
  bool threshold_alone = false;
  bool for_good = false;       ///< undo of what was changed before leaves it (RecognizerFile::set_calibration_for_good)
  int64_t most_images = 1000;  ///< held out one by one, spread over all; more only take longer
  int64_t most_classes = 200;  ///< held out one by one, spread over all
};

/// Calibrates on the enrolled images, one of each moment (moments.h): each is classified as if its moment had not been
/// enrolled (accuracy, and the factor by the likelihood of the true classes, with a normal prior of standard deviation
/// 1 on its logarithm), and the images of each class as if the class had not been, which makes them images of none of
/// the classes; `others`, float32 [n, d], if defined, are used instead. The threshold is below at least 95 % of new
/// images of the classes (own_threshold); where fewer than kFewestHeldOut can be held out it is below as many images of
/// classes left out, to which those of the classes are closer. With `others`, a rate or `similar` it is a conformal
/// quantile of images of none of the classes for the rate, or the balanced one. Throws Error if features were not
/// kept, no class has two moments, or there are too few images of none of the classes for the rate; UsageError for a
/// rate outside (0, 1).
Calibration calibrate(const ClassScorer& scorer, const Array& others, const CalibrationOptions& options,
                      Progress& progress);

}  // namespace protocom
