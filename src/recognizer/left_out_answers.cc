#include "recognizer/detail/left_out_answers.h"

#include <algorithm>

namespace protocom {
namespace {

constexpr int64_t kMostFolds = 10;

/// A moment that is left out.
struct LeftOutMoment {
  int64_t k = 0;
  int64_t fold = 0;
  std::vector<int64_t> images;
};

std::vector<LeftOutMoment> moments_to_leave_out(const ClassScorer& scorer) {
  std::vector<LeftOutMoment> all;
  const std::vector<PhotoMoments> moments = scorer.moments();
  const int64_t fewest = std::max<int64_t>(1, scorer.method().spec().fewest_shots);
  for (size_t k = 0; k < moments.size(); ++k) {
    std::vector<std::vector<int64_t>> photos = photos_of(moments[k]);
    const auto count = static_cast<int64_t>(photos.size());
    if (count <= fewest) continue;
    const int64_t folds = std::min(count, kMostFolds);
    for (int64_t m = 0; m < count; ++m)
      all.push_back({static_cast<int64_t>(k), m % folds, std::move(photos[static_cast<size_t>(m)])});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const LeftOutMoment& a, const LeftOutMoment& b) { return a.fold < b.fold; });
  return all;
}

/// Classifies the moments [from, to), which are left out together, by the others.
void ask(const ClassScorer& scorer, const std::vector<LeftOutMoment>& all, size_t from, size_t to, double factor,
         LeftOutAnswers& answers) {
  std::vector<std::vector<int64_t>> left_out(scorer.class_names().size());
  for (size_t i = from; i < to; ++i) {
    auto& own = left_out[static_cast<size_t>(all[i].k)];
    own.insert(own.end(), all[i].images.begin(), all[i].images.end());
  }
  for (std::vector<int64_t>& own : left_out) std::sort(own.begin(), own.end());
  const auto rest = scorer.without(left_out);
  for (size_t i = from; i < to; ++i) {
    const int64_t image = all[i].images.front();
    const FloatMatrix logits = rest->score(scorer.images(all[i].k).rows(image, image + 1)).logits;
    const double sum = log_sum_exp(logits, factor)[0];
    answers.probabilities.row(answers.count()) = (factor * logits.row(0).cast<double>().array() - sum).exp();
    answers.classes.push_back(all[i].k);
    answers.images.push_back(all[i].images);
  }
}

}  // namespace

LeftOutAnswers leave_moments_out(const ClassScorer& scorer, double factor, Progress& progress) {
  const std::vector<LeftOutMoment> all = moments_to_leave_out(scorer);
  LeftOutAnswers answers;
  answers.probabilities.resize(static_cast<int64_t>(all.size()), static_cast<int64_t>(scorer.class_names().size()));
  if (all.empty()) return answers;
  progress.start("leave-one-out rounds", all.back().fold + 1);
  for (size_t from = 0, to = 0; from < all.size(); from = to) {
    while (to < all.size() && all[to].fold == all[from].fold) ++to;
    ask(scorer, all, from, to, factor, answers);
    progress.advance(all[from].fold + 1, "");
  }
  progress.finish();
  return answers;
}

}  // namespace protocom
