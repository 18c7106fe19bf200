#pragma once
#include "report/analysis_sections.h"

namespace protocom::testing {

/// Returns the points of four methods at each x: accuracies rise by 5 per point, from 40 for the mean, 50 for completed
/// (which stays constant), 55 and 60.
inline std::vector<SeriesPoint> sample_series(const std::vector<double>& places) {
  std::vector<SeriesPoint> points;
  for (size_t i = 0; i < places.size(); ++i) {
    const double rise = 5.0 * static_cast<double>(i);
    points.push_back({places[i], "mean", "inductive", {40.0 + rise, 0.8}, {0.0, 0.0}, 0.0});
    points.push_back({places[i], "completed", "inductive", {50.0, 0.7}, {10.0 - rise, 0.5}, 0.0});
    points.push_back({places[i], "mean-fusion", "inductive", {55.0 + rise, 0.7}, {15.0, 0.4}, 0.0});
    points.push_back({places[i], "gauss-fusion", "transductive", {60.0 + rise, 0.9}, {20.0, 0.6}, 0.0});
  }
  return points;
}

/// Returns scores of two episodes: 40 and 60 for the mean, 10 more for each following method.
inline TaskScores sample_scores(int64_t k_shot) {
  TaskScores task;
  task.shape.k_shot = k_shot;
  double more = 0.0;
  for (const std::string& method : paper_rows()) {
    task.methods.push_back({method,
                            std::string(method_spec(method).mode()),
                            {40.0 + more, 60.0 + more},
                            {0.5 + 0.01 * more, 0.5 + 0.01 * more},
                            {}});
    more += 10.0;
  }
  return task;
}

inline std::string plain_title(const std::string& name) { return "the " + name; }
inline std::string no_picture(const std::string&) { return ""; }
/// Returns the start of a base64 JPEG: its first letters distinguish it from a PNG.
inline std::string some_picture(const std::string&) { return "/9j/4AA="; }

inline DistributionAnalysis sample_distribution() {
  DistributionAnalysis analysis;
  analysis.variances = {{"base", 64, 32000, 0.0975, 0.04, 0.70, 0.002, 0.01},
                        {"novel", 20, 5000, 0.0944, 0.05, 0.65, 0.002, 0.01}};
  analysis.pca_share = {0.25, 0.125};
  for (int i = 0; i < 12; ++i) {
    const double place = static_cast<double>(i);
    analysis.points.push_back({i % 2 == 0 ? "wolf" : "a class with quite a long name, as WordNet has them",
                               i < 6 ? "base" : "novel", place, -place, 2.0 * place, place});
  }
  return analysis;
}

inline ClassesAnalysis sample_classes(size_t count = 20) {
  ClassesAnalysis analysis;
  analysis.method = "gauss-fusion";
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "Ruby throated Hummingbird " + std::to_string(i);
    analysis.classes.push_back({name, name, 500, {90.0 - static_cast<double>(i), 2.5}, "trilobite", 12.0, 7});
    analysis.confusion.emplace_back(count, 4.0);
    analysis.confusion.back()[i] = 90.0 - static_cast<double>(i);
  }
  return analysis;
}

/// Returns every section, from made-up numbers.
inline std::vector<Section> sample_sections() {
  const EpisodeOptions episodes;
  const std::vector<double> shots = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  ClassAttention attention{"n1", "black widow", 250, {}};
  for (int i = 0; i < 12; ++i)
    attention.attributes.push_back({"a", "wing color iridescent " + std::to_string(i), 1.0, 0.3 - 0.05 * i, 0.04, 0.5});
  const ClassExtremes extremes{"n1",
                               {{"a.jpg", 0.95}, {"b.jpg", 0.94}, {"c.jpg", 0.93}, {"d.jpg", 0.92}, {"e.jpg", 0.91}},
                               {{"z.jpg", -0.05}, {"y.jpg", 0.1}, {"x.jpg", 0.2}, {"w.jpg", 0.3}, {"v.jpg", 0.4}}};
  std::vector<double> falling;
  for (int i = 0; i < 200; ++i) falling.push_back(0.9 - 0.003 * i);
  const SingleImageAnalysis single{20, 249, 50, {{"mean", falling}, {"completed", falling}, {"mean-fusion", falling}}};
  const ReliabilityCurve calibration{"mean",
                                     "inductive",
                                     0.21,
                                     -0.2,
                                     {{0.2, 0.3, 50, 0.25, 0.4}, {0.3, 0.4, 50, 0.36, 0.6}, {0.4, 0.5, 5, 0.45, 0.8}}};
  EpisodesAnalysis changes;
  changes.change = {8.4, 0.7};
  changes.lost_percent = 12.0;
  changes.unchanged_percent = 3.0;
  for (int i = 0; i < 100; ++i) changes.changes.push_back(0.3 * i - 4.0);
  changes.worst = {{17, {"wolf", "goose", "pretzel", "trifle", "snorkel"}, 60.0, 58.0, 50.7, -9.3}};
  return {ablation_section({sample_scores(1), sample_scores(5)}, episodes),
          cosine_section(sample_scores(1), episodes),
          series_section("shots", sample_series(shots), episodes),
          series_section("noise", sample_series({0.0, 0.1, 0.2, 0.3}), episodes),
          series_section("ways", sample_series({5, 8, 11, 14, 17, 20}), episodes),
          series_section("queries", sample_series({1, 2, 5, 15}), episodes),
          series_section("imbalance", sample_series({0, 0.5, 2, 10}), episodes),
          series_section("base-classes", sample_series({8, 16, 32, 64}), episodes),
          series_section("unlabelled", sample_series({0, 1, 2, 5, 10, 20, 30, 50}), episodes),
          distribution_section(sample_distribution(), &plain_title),
          single_images_section(single, Split::kNovel),
          nearest_section({extremes}, &plain_title, &some_picture),
          attention_section({attention}),
          classes_section(sample_classes(), episodes),
          calibration_section({calibration}, episodes),
          open_set_section({{"mean", "inductive", 1, false, {57.5, 0.8}, 0.68, 85.0, 0.31},
                            {"plda", "inductive", 1, true, {62.5, 0.8}, 0.72, 80.0, 0.02}},
                           {episodes}),
          generalised_section({{"mean",
                                "inductive",
                                1,
                                {{21.0, 0.8}, {80.0, 0.5}, {33.0, 0.9}},
                                GeneralisedWithOffset{0.07, {{45.0, 0.8}, {70.0, 0.5}, {54.8, 0.9}}}}},
                              {episodes}),
          episodes_section(changes, &plain_title, episodes),
          failures_section({{"q.jpg", "goose", "albatross", 0.97, "s.jpg", "t.jpg"}}, "gauss-fusion", episodes,
                           &some_picture)};
}

}  // namespace protocom::testing
