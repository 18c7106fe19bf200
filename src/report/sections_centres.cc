#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/analysis_sections.h"
#include "report/detail/photo_sheet.h"
#include "report/detail/section_tables.h"
#include "report/methods.h"

namespace protocom {
namespace {

using Coordinate = double MapPoint::*;

struct Axes {
  Coordinate x, y;
  const char *id, *name;
};

void fit_range(const std::vector<MapPoint>& points, Coordinate coordinate, double& low, double& high) {
  low = points.front().*coordinate;
  high = low;
  for (const MapPoint& point : points) {
    low = std::min(low, point.*coordinate);
    high = std::max(high, point.*coordinate);
  }
  if (!(high > low)) high = low + 1.0;
}

ScatterChart map_of(const DistributionAnalysis& analysis, const std::string& split, const Axes& axes,
                    const TitleSource& title) {
  ScatterChart chart;
  chart.id = fmt::format("distribution-{}-{}", axes.id, split);
  const auto variance =
      std::find_if(analysis.variances.begin(), analysis.variances.end(),
                   [&](const SplitVariance& split_variance) { return split_variance.split == split; });
  chart.title = fmt::format("{}: {}, σ² = {:.3f}", axes.name, split,
                            variance == analysis.variances.end() ? 0.0 : variance->within);
  fit_range(analysis.points, axes.x, chart.low_x, chart.high_x);
  fit_range(analysis.points, axes.y, chart.low_y, chart.high_y);
  std::map<std::string, size_t> looks, places;  // colour and shape among all classes, index in this chart
  for (const MapPoint& point : analysis.points) {
    const auto look = looks.emplace(point.class_name, looks.size()).first;
    if (point.split != split) continue;
    const auto place = places.emplace(point.class_name, chart.groups.size());
    if (place.second) {
      chart.groups.emplace_back();
      chart.groups.back().label = title(point.class_name);
      chart.groups.back().place = look->second;
    }
    chart.groups[place.first->second].x.push_back(point.*axes.x);
    chart.groups[place.first->second].y.push_back(point.*axes.y);
  }
  return chart;
}

/// Adds the photos of the points of a map, one sheet per class.
void add_photos(const DistributionAnalysis& analysis, const std::string& split, const PictureSource& picture,
                ScatterChart& chart) {
  std::vector<std::string> classes;
  std::map<std::string, std::vector<std::string>> photos;
  for (const MapPoint& point : analysis.points) {
    if (point.split != split) continue;
    if (photos.count(point.class_name) == 0) classes.push_back(point.class_name);
    photos[point.class_name].push_back(picture(point.image_id));
  }
  for (size_t i = 0; i < classes.size(); ++i) {
    const PhotoSheet sheet = photo_sheet(photos[classes[i]]);
    chart.groups[i].sheet = sheet.jpeg;
    chart.groups[i].columns = sheet.columns;
  }
}

/// Returns a - b, of different classes.
Estimate difference_of(const Estimate& a, const Estimate& b) { return {a.value - b.value, std::hypot(a.ci95, b.ci95)}; }

/// Returns the row "novel − base" of the table; empty if a split has no class, or only one, which has no interval.
std::vector<std::string> novel_over_base(const std::vector<SplitVariance>& variances) {
  const auto of = [&](const char* split) {
    return std::find_if(variances.begin(), variances.end(),
                        [&](const auto& item) { return item.split == split && item.classes > 1; });
  };
  const auto base = of("base");
  const auto novel = of("novel");
  if (base == variances.end() || novel == variances.end()) return {};
  const Estimate within = difference_of({novel->within, novel->within_ci95}, {base->within, base->within_ci95});
  const Estimate cosine = difference_of({novel->cosine, novel->cosine_ci95}, {base->cosine, base->cosine_ci95});
  return {"novel − base", "", "", signed_cell(within, 4), "", signed_cell(cosine, 3)};
}

PictureRow picture_row(const std::string& label, const std::vector<RankedImage>& images, const PictureSource& picture) {
  PictureRow row{label, {}};
  for (const RankedImage& image : images) {
    row.tiles.push_back({picture(image.image_id), fmt::format("{:.2f}", image.cosine),
                         fmt::format("{}, cosine {:.2f}", image.image_id, image.cosine)});
  }
  return row;
}

double mean_cosine(const std::vector<ClassExtremes>& classes, std::vector<RankedImage> ClassExtremes::*which) {
  double sum = 0.0;
  double count = 0.0;
  for (const ClassExtremes& extremes : classes) {
    for (const RankedImage& image : extremes.*which) {
      sum += image.cosine;
      count += 1.0;
    }
  }
  return count > 0.0 ? sum / count : 0.0;
}

BarChart attention_chart(const ClassAttention& attention, size_t place) {
  constexpr size_t kShown = 10;
  BarChart chart;
  chart.id = fmt::format("attention-{}", place);
  chart.title = fmt::format("{}: weight α, by contribution", attention.title);
  chart.decimals = 2;
  double low = 0.0;
  double high = 0.0;
  for (size_t i = 0; i < std::min(kShown, attention.attributes.size()); ++i) {
    const AttributeUse& use = attention.attributes[i];
    chart.bars.push_back({use.title, "", use.alpha, use.alpha_std, "m-completed"});
    low = std::min(low, use.alpha - use.alpha_std);
    high = std::max(high, use.alpha + use.alpha_std);
  }
  chart.low = low;
  chart.high = high;
  return chart;
}

/// Returns "2.4 ± 0.3", a mean over classes; without an interval for one class.
std::string mean_words(const std::vector<double>& values) {
  const Estimate mean = values.empty() ? Estimate{} : estimate(values);
  return values.size() < 2 ? fmt::format("{:.1f}", mean.value) : percent_cell(mean);
}

/// Sets the same round axis for all, so that they can be compared.
void share_axis(std::vector<BarChart>& charts) {
  double low = 0.0;
  double high = 0.0;
  for (const BarChart& chart : charts) {
    low = std::min(low, chart.low);
    high = std::max(high, chart.high);
  }
  for (BarChart& chart : charts) {
    chart.low = low < 0.0 ? -round_up(-low) : 0.0;
    chart.high = high > 0.0 ? round_up(high) : 0.1;
  }
}

}  // namespace

Section distribution_section(const DistributionAnalysis& analysis, const TitleSource& title,
                             const PictureSource& picture) {
  Section section{"distribution", "Base and novel classes in feature space (Zhang et al. 2021, figure 1)"};
  size_t classes = 0;
  for (const Axes& axes : {Axes{&MapPoint::tsne_x, &MapPoint::tsne_y, "tsne", "t-SNE"},
                           Axes{&MapPoint::pca_x, &MapPoint::pca_y, "pca", "PCA"}}) {
    for (const char* split : {"base", "novel"}) {
      ScatterChart chart = map_of(analysis, split, axes, title);
      if (chart.groups.empty()) continue;
      classes = std::max(classes, chart.groups.size());
      if (picture && axes.id == std::string("tsne")) add_photos(analysis, split, picture, chart);
      if (axes.id == std::string("pca")) {
        chart.x_label = fmt::format("1st component, {:.0f} % of the variance →", 100.0 * analysis.pca_share[0]);
        chart.y_label = fmt::format("↑ 2nd component, {:.0f} %", 100.0 * analysis.pca_share[1]);
      }
      section.figures.emplace_back(chart);
    }
  }
  section.how = fmt::format(
      "The maps show {} images of up to {} random classes per split; base and novel are placed together, so two maps "
      "of one kind share their axes; a class has one colour and mark in all of them. In a t-SNE map, distances between "
      "far groups are not meaningful. σ² is the unbiased variance within a class, averaged over dimensions and "
      "classes, over all images.",
      analysis.points.size(), classes);
  ReportTable table{
      "Over all images; variances are means over dimensions, in squared units of the features; ± are 95 % intervals "
      "over classes",
      {"Split", "Classes", "Images", "σ² within classes", "σ² of centres", "Cosine to centre"},
      {}};
  for (const SplitVariance& variance : analysis.variances) {
    table.rows.push_back({variance.split, std::to_string(variance.classes), std::to_string(variance.images),
                          fmt::format("{:.4f} ± {:.4f}", variance.within, variance.within_ci95),
                          fmt::format("{:.4f}", variance.between),
                          fmt::format("{:.3f} ± {:.3f}", variance.cosine, variance.cosine_ci95)});
  }
  const std::vector<std::string> change = novel_over_base(analysis.variances);
  section.finding = change.empty() ? "Fewer than two splits have several classes."
                                   : fmt::format(
                                         "Novel minus base classes: variance within a class {}, cosine to the "
                                         "class centre {}.",
                                         change[3], change[5]);
  if (!change.empty()) table.rows.push_back(change);
  section.tables = {table};
  return section;
}

namespace {

/// Says what completion, or else the last method, does to the images at both ends; without an interval for one class.
std::string moved_ends(const SingleImageAnalysis& analysis) {
  if (analysis.classes < 2) return "One class: there is no interval over classes.";
  const auto completed = std::find_if(analysis.curves.begin(), analysis.curves.end(),
                                      [](const auto& item) { return item.method == "completed"; });
  const SingleImageCurve& curve = completed == analysis.curves.end() ? analysis.curves.back() : *completed;
  return fmt::format("{}, cosine over that of the image itself: {} for the nearest images, {} for the farthest.",
                     curve.method, signed_cell(curve.nearest_gain, 3), signed_cell(curve.farthest_gain, 3));
}

}  // namespace

Section single_images_section(const SingleImageAnalysis& analysis, Split split) {
  Section section{"single-images",
                  "Prototypes from one image, by its distance to the centre (Zhang et al. 2021, figure 5)"};
  LineChart chart;
  chart.id = "single-images-cosine";
  chart.title = "Cosine of the predicted prototype to the class centre";
  chart.x_label = "rank of the image by its distance to the centre, near to far";
  chart.y_label = "cosine";
  chart.decimals = 3;
  const auto colours = method_classes(methods_in(analysis.curves));
  for (size_t m = 0; m < analysis.curves.size(); ++m) {
    const SingleImageCurve& curve = analysis.curves[m];
    LineSeries series{
        curve.method == "mean" ? "mean (the image itself)" : curve.method, colours[m], {}, curve.cosine, {}};
    // Draws a smoothed value at the middle of its window.
    for (size_t i = 0; i < curve.cosine.size(); ++i)
      series.x.push_back(static_cast<double>(i) + 0.5 * static_cast<double>(analysis.window + 1));
    chart.series.push_back(series);
  }
  ReportTable table{"Smoothed cosine of the prototype, and its gain over that of the image",
                    {"Prototype", "Nearest", "Middle", "Farthest", "Nearest over image", "Farthest over image"}};
  for (const SingleImageCurve& curve : analysis.curves) {
    table.rows.push_back({curve.method, format_number(curve.cosine.front(), 3),
                          format_number(curve.cosine[curve.cosine.size() / 2], 3),
                          format_number(curve.cosine.back(), 3), signed_cell(curve.nearest_gain, 3),
                          signed_cell(curve.farthest_gain, 3)});
  }
  section.tables = {table};
  section.finding = moved_ends(analysis);
  section.how = fmt::format(
      "Each image of the {} {} classes is the only shot in turn; curves are means over classes at each of {} ranks, "
      "smoothed by a moving average of {}. ± are 95 % intervals over classes, of the differences class by class. All "
      "inductive.",
      analysis.classes, to_string(split), analysis.ranks, analysis.window);
  section.figures = {chart};
  return section;
}

Section nearest_section(const std::vector<ClassExtremes>& classes, const TitleSource& title,
                        const PictureSource& picture) {
  Section section{"nearest", "Images nearest to and farthest from their class centre (Zhang et al. 2021, figure 4)"};
  section.finding = fmt::format("Mean cosine to the class centre: {:.2f} for the nearest images, {} for the farthest.",
                                mean_cosine(classes, &ClassExtremes::nearest),
                                format_number(mean_cosine(classes, &ClassExtremes::farthest), 2));
  section.how = "The centre is the mean of all images of the class; numbers are cosines to it.";
  ReportTable table{"Image ids, the most extreme first", {"Class", "Nearest", "Farthest"}};
  bool pictures = false;
  for (size_t i = 0; i < classes.size(); ++i) {
    const ClassExtremes& extremes = classes[i];
    PictureChart chart;
    chart.id = fmt::format("nearest-{}", i);
    chart.title = title(extremes.class_name);
    chart.rows = {picture_row("nearest to the centre", extremes.nearest, picture),
                  picture_row("farthest from it", extremes.farthest, picture)};
    for (const PictureRow& row : chart.rows) {
      for (const PictureTile& tile : row.tiles) pictures = pictures || !tile.picture.empty();
    }
    section.figures.emplace_back(chart);
    const auto list = [](const std::vector<RankedImage>& images) {
      std::string text;
      for (const RankedImage& image : images) text += (text.empty() ? "" : ", ") + image.image_id;
      return text;
    };
    table.rows.push_back({title(extremes.class_name), list(extremes.nearest), list(extremes.farthest)});
  }
  if (!pictures) {
    section.figures.clear();
    section.tables = {table};
    section.how +=
        " None of these images was found: give --images the folder or pack from which the features were extracted.";
  }
  return section;
}

Section attention_section(const std::vector<ClassAttention>& classes) {
  constexpr size_t kShown = 4;
  Section section{"attention", "Which attributes were used"};
  std::vector<const ClassAttention*> ordered;
  for (const ClassAttention& attention : classes) ordered.push_back(&attention);
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto* a, const auto* b) { return a->attributes.size() > b->attributes.size(); });
  ReportTable table{"The three attributes that contributed most to each class, with their mean weight α",
                    {"Class", "Attributes", "Most used", "Contribution of all"}};
  size_t without = 0;
  std::vector<double> sums;
  for (const ClassAttention* attention : ordered) {
    std::string used;
    double sum = 0.0;
    for (size_t i = 0; i < attention->attributes.size(); ++i) {
      const AttributeUse& use = attention->attributes[i];
      sum += use.contribution;
      if (i < 3) used += fmt::format("{}{} {}", i == 0 ? "" : ", ", use.title, format_number(use.alpha, 2));
    }
    without += attention->attributes.empty() ? 1 : 0;
    sums.push_back(sum);
    table.rows.push_back({attention->title, std::to_string(attention->attributes.size()), used.empty() ? "–" : used,
                          attention->attributes.empty() ? "–" : fmt::format("{:.2f}", sum)});
  }
  std::vector<BarChart> charts;
  for (size_t i = 0; i < std::min(ordered.size(), kShown); ++i) {
    if (!ordered[i]->attributes.empty()) charts.push_back(attention_chart(*ordered[i], i));
  }
  share_axis(charts);
  section.figures.assign(charts.begin(), charts.end());
  section.finding = fmt::format(
      "The attributes of a class together weigh {} times its image’s own code on average{}.", mean_words(sums),
      without == 0 ? std::string() : fmt::format("; {} of {} classes have no attribute", without, classes.size()));
  section.how =
      "α of equation 10 for every image as the only shot: mean, and standard deviation over the images as the error "
      "bar. "
      "There is no softmax, so α may be negative. An attribute's contribution is |α z′| of the attribute over |z′| of "
      "the "
      "image; the image's own code has weight 1. The interval of their mean is over classes.";
  section.tables = {table};
  return section;
}

}  // namespace protocom
