#include "fewshot/task_classifier.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "fewshot/methods.h"
#include "support/message_of.h"
#include "support/scorer.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

/// Returns three classes of four images around (4, 0, 0, 0, 0, 0), (0, 4, 0, ...) and (0, 0, 4, ...).
at::Tensor task_rows() {
  at::manual_seed(5);
  return 0.5 * at::randn({12, 6}) + 4 * at::eye(3, 6).repeat_interleave(4, 0);
}
at::Tensor task_labels() { return at::arange(3, at::kLong).repeat_interleave(4); }
at::Tensor task_queries() { return 0.5 + 4 * at::eye(3, 6); }

TaskInputs inputs_of(const at::Tensor& features, const at::Tensor& labels, int64_t classes) {
  const auto array = [](const at::Tensor& tensor) {
    return tensor.defined() ? array_of(tensor.contiguous()) : Array();
  };
  return {array(features), array(labels), classes};
}

TensorScores answer_of(const TaskClassifier& classifier, const at::Tensor& queries) {
  return tensors_of(classifier.score(array_of(queries.contiguous())));
}

/// Returns the logits for the same images as an episode of the method.
at::Tensor episode_logits(const Method& method) {
  EpisodeBatch batch;
  batch.support = task_rows().view({1, 3, 4, 6});
  batch.query = task_queries().unsqueeze(0);
  batch.classes = at::arange(3, at::kLong).unsqueeze(0);
  return testing::scores_of(method, {}, batch).logits.squeeze(0);
}

TEST(TaskClassifier, SaysWhatAnEpisodeOfItsImagesSays) {
  for (const char* name : {"mean", "plda", "plda-vb", "gda", "baseline-pp"}) {
    const std::shared_ptr<const Method> method = make_method(name);
    const TaskClassifier classifier(method, inputs_of(task_rows(), task_labels(), 3));
    const at::Tensor logits = answer_of(classifier, task_queries()).logits;
    EXPECT_TRUE(at::allclose(logits, episode_logits(*method), 1e-4, 1e-4)) << name;
    EXPECT_TRUE(logits.argmax(1).equal(at::arange(3, at::kLong))) << name;
  }
}

TEST(TaskClassifier, WhatIsPlacedAnswersAsTheLabelledImagesDidHoweverManyTheyWere) {
  const at::Tensor base = at::randn({9, 6}) + 1;
  for (const char* name :
       {"mean", "proto-net", "simple-shot", "gda", "linear-svm", "logistic-regression:transform=cl2n", "baseline-pp"}) {
    TaskInputs inputs = inputs_of(task_rows().repeat({3, 1}), task_labels().repeat({3}), 3);
    inputs.base = {array_of(base), std::vector<int64_t>(9)};
    const TaskClassifier classifier(make_method(name), inputs);
    std::optional<PlacedTask> placed = classifier.placed();
    ASSERT_TRUE(placed) << name;
    for (const Array& part : placed->placed) EXPECT_EQ(part.size(0), 3) << name;
    const TaskClassifier again(std::move(*placed));
    EXPECT_TRUE(answer_of(again, task_queries()).logits.equal(answer_of(classifier, task_queries()).logits)) << name;
  }
  EXPECT_FALSE(TaskClassifier(make_method("knn:transform=none"), inputs_of(task_rows(), task_labels(), 3)).placed());
}

TEST(TaskClassifier, TheOrderOfTheImagesAndTheirTypeDoNotMatter) {
  const at::Tensor order = at::tensor({11, 0, 7, 3, 9, 1, 10, 2, 5, 4, 8, 6}, at::kLong);
  const std::shared_ptr<const Method> method = make_method("plda");
  const TaskClassifier plain(method, inputs_of(task_rows(), task_labels(), 3));
  const TaskClassifier other(method, inputs_of(task_rows().index_select(0, order).to(at::kDouble),
                                               task_labels().index_select(0, order).to(at::kInt), 3));
  EXPECT_TRUE(at::allclose(answer_of(plain, task_queries()).logits,
                           answer_of(other, task_queries().to(at::kDouble)).logits, 1e-4, 1e-5));
}

TEST(TaskClassifier, ClassesMayHaveDifferentNumbersOfImages) {
  const at::Tensor kept = at::tensor({0, 4, 5, 6, 8, 9, 10, 11}, at::kLong);
  for (const char* name : {"mean", "plda", "plda-vb"}) {
    const TaskClassifier classifier(
        make_method(name), inputs_of(task_rows().index_select(0, kept), task_labels().index_select(0, kept), 3));
    EXPECT_TRUE(answer_of(classifier, task_queries()).logits.argmax(1).equal(at::arange(3, at::kLong))) << name;
  }
}

TEST(TaskClassifier, AQueryAloneGetsWhatItGetsAmongOthers) {
  const TaskClassifier classifier(make_method("plda"), inputs_of(task_rows(), task_labels(), 3));
  const TensorScores all = answer_of(classifier, task_queries());
  const TensorScores one = answer_of(classifier, task_queries().slice(0, 1, 2));
  EXPECT_TRUE(at::allclose(one.logits[0], all.logits[1], 1e-5, 1e-5));
  EXPECT_TRUE(at::allclose(one.unseen[0], all.unseen[1], 1e-5, 1e-5));
}

std::string refused(const TaskInputs& inputs) {
  return message_of([&] { TaskClassifier(make_method("mean"), inputs); });
}

TEST(TaskClassifier, BaseImagesAreNeededWhereTheSpaceIsCentredByThemAlone) {
  for (const char* name :
       {"linear-svm", "logistic-regression", "knn:transform=none", "simple-shot:transform=l2n", "tim"}) {
    const TaskClassifier classifier(make_method(name), inputs_of(task_rows(), task_labels(), 3));
    EXPECT_TRUE(answer_of(classifier, task_queries()).logits.argmax(1).equal(at::arange(3, at::kLong))) << name;
  }
  for (const char* name : {"linear-svm:transform=cl2n", "knn", "simple-shot", "bavardage"}) {
    EXPECT_THAT(message_of([&] { TaskClassifier(make_method(name), inputs_of(task_rows(), task_labels(), 3)); }),
                HasSubstr("needs features of base classes"))
        << name;
  }
}

TEST(TaskClassifier, WhatDoesNotFitIsRefusedInOneSentence) {
  const at::Tensor x = task_rows(), y = task_labels();
  EXPECT_THAT(refused(inputs_of(x, y.slice(0, 0, 9), 3)), HasSubstr("found 12 features and labels [9]"));
  EXPECT_THAT(refused(inputs_of(x[0], y, 3)), HasSubstr("found [6]"));
  EXPECT_THAT(refused(inputs_of(x.slice(0, 0, 0), y.slice(0, 0, 0), 3)), HasSubstr("found [0, 6]"));
  EXPECT_THAT(refused(inputs_of({}, {}, 3)), HasSubstr("found nothing"));
  EXPECT_THAT(refused(inputs_of(x, y.to(at::kFloat), 3)), HasSubstr("labels: expected whole numbers, found Float"));
  EXPECT_THAT(refused(inputs_of(x.to(at::kInt), y, 3)), HasSubstr("found Int"));
  EXPECT_THAT(refused(inputs_of(x, y, 2)), HasSubstr("labels run from 0 to 2, there are 2 classes"));
  EXPECT_THAT(refused(inputs_of(x, y, 4)), HasSubstr("class '3' has 0 labelled images, 'mean' needs 1"));
  EXPECT_THAT(refused(inputs_of(x.clone().fill_(NAN), y, 3)), HasSubstr("NaN or infinity in 12 rows"));
  EXPECT_THAT(refused({array_of(x), array_of(y), 3, 5}), HasSubstr("features of 6 dimensions, 'mean' was fitted on 5"));
  EXPECT_THAT(refused({array_of(x), array_of(y), 3, 0, {"a"}}), HasSubstr("1 class names for 3 classes"));
  EXPECT_THAT(message_of([&] { TaskClassifier(make_method("tim:transform=cl2n"), inputs_of(x, y, 3)); }),
              HasSubstr("needs features of"));
  const TaskClassifier classifier(make_method("mean"), inputs_of(x, y, 3));
  EXPECT_THAT(message_of([&] {
                (void)answer_of(classifier, at::zeros({2, 5}));
              }),
              HasSubstr("queries have 5 dimensions, the labelled features 6"));
  EXPECT_THAT(message_of([&] { (void)answer_of(classifier, at::zeros({0, 6})); }), HasSubstr("found [0, 6]"));
}

}  // namespace
}  // namespace protocom::testing
