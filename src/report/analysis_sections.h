#pragma once
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "eval/analysis_attention.h"
#include "eval/analysis_base_classes.h"
#include "eval/analysis_centres.h"
#include "eval/analysis_distribution.h"
#include "eval/analysis_generalised.h"
#include "eval/analysis_noise.h"
#include "eval/analysis_open_set.h"
#include "eval/analysis_queries.h"
#include "eval/analysis_sweep.h"
#include "eval/results_file.h"
#include "report/headline.h"
#include "report/section.h"

namespace protocom {

/// Functions that turn numbers into tables, figures and one line, one for each kind of analysis.

/// Returns "tables", "ablation", "cosine", "shots", "noise", ...: the names of all sections, in the order of a report.
const std::vector<std::string>& section_names();

/// Describes the episodes in one sentence: "600 episodes of 5-way 1-shot, 15 queries per class, novel classes, seed 1."
std::string say_episodes(const EpisodeOptions& episodes);

/// Scores of all methods on one task.
struct TaskScores {
  EpisodeShape shape;
  std::vector<MethodScores> methods;
};

/// Returns the picture of an image, a JPEG or PNG in base64, or "" if there is none.
using PictureSource = std::function<std::string(const std::string& image_id)>;

/// Returns the title of a class name.
using TitleSource = std::function<std::string(const std::string& class_name)>;

/// Why the single answers of this method are shown.
enum class Analysed { kMostAccurate, kNamed, kOnly };

/// A class that is often wrong, with what is needed to show it.
struct WorstClass {
  std::string title;
  double accuracy = 0.0;  ///< percent
  std::string confused_with;
  double confused_percent = 0.0;
  std::vector<std::pair<std::string, std::string>> mistakes;  ///< an image of the class, and the wrong answer
  std::vector<std::string> confused_images;                   ///< of the class that it is confused with
};

/// Makes tables 1 and 2: methods by datasets and tasks.
Section tables_section(const std::vector<Evaluation>& evaluations);
/// Makes table 3: cosine of the prototypes to the true centres.
Section cosine_section(const TaskScores& scores, const EpisodeOptions& episodes);
/// Makes table 4: the four rows of the ablation, the class mean first. Needs at least one task.
Section ablation_section(const std::vector<TaskScores>& tasks, const EpisodeOptions& episodes);
/// Makes accuracy over a varied quantity: "shots" (figure 3a), "noise" (table 5), "ways", "queries", "imbalance",
/// "base-classes" or "unlabelled". Needs at least one point.
Section series_section(const std::string& name, const std::vector<SeriesPoint>& points, const EpisodeOptions& episodes);
/// Makes figure 1: base and novel classes in feature space, with photos if `picture` has any.
Section distribution_section(const DistributionAnalysis& analysis, const TitleSource& title,
                             const PictureSource& picture = {});
/// Makes figure 5: prototypes from single images by their distance to the centre.
Section single_images_section(const SingleImageAnalysis& analysis, Split split);
/// Makes figure 4: images nearest to and farthest from their class centres.
Section nearest_section(const std::vector<ClassExtremes>& classes, const TitleSource& title,
                        const PictureSource& picture);
/// Shows which attributes were used: figures for the four classes with the most attributes, a table for all.
Section attention_section(const std::vector<ClassAttention>& classes);
/// Shows per-class accuracy and the confusion matrix, with photos of the `worst` classes. With many classes the matrix
/// has the 60 with the lowest accuracy, the chart 24.
Section classes_section(const ClassesAnalysis& analysis, const EpisodeOptions& episodes,
                        const Analysed& analysed = Analysed::kNamed, const std::vector<WorstClass>& worst = {},
                        const PictureSource& picture = {});
/// Shows reliability curves and expected calibration error. Needs at least one method.
Section calibration_section(const std::vector<ReliabilityCurve>& methods, const EpisodeOptions& episodes);
/// Shows results on images of classes that were not given. Needs at least one result.
Section open_set_section(const std::vector<OpenSetResult>& results, const OpenSetOptions& options);
/// Shows novel and base classes together. Needs at least one result.
Section generalised_section(const std::vector<GeneralisedResult>& results, const GeneralisedOptions& options);
/// Shows what fusion did to single episodes.
Section episodes_section(const EpisodesAnalysis& analysis, const TitleSource& title, const EpisodeOptions& episodes);

/// A mistake, with what is needed to show it.
struct Mistake {
  std::string image_id;
  std::string true_title;
  std::string predicted_title;
  double probability = 0.0;
  std::string support_id;       ///< an image that represented the predicted class in that episode
  std::string true_support_id;  ///< one that represented the true class
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Mistake, image_id, true_title, predicted_title, probability, support_id,
                                   true_support_id)

/// Shows the mistakes that were made with the highest probability.
Section failures_section(const std::vector<Mistake>& mistakes, const std::string& method,
                         const EpisodeOptions& episodes, const PictureSource& picture,
                         const Analysed& analysed = Analysed::kNamed);

}  // namespace protocom
