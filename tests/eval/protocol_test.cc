#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "base/error.h"
#include "eval/evaluate.h"
#include "eval/predictions.h"
#include "fewshot/align_knowledge.h"
#include "fewshot/paper/completer.h"
#include "fewshot/paper/completion_model.h"
#include "fewshot/vector_form.h"
#include "heads/cosine_classifier.h"
#include "heads/gauss_fusion.h"
#include "heads/moments.h"
#include "heads/protocomnet.h"
#include "support/matrices.h"
#include "support/message_of.h"
#include "support/ragged_shape.h"
#include "support/toy_features.h"
#include "support/vector_forms.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::message_of;
using protocom::testing::ragged_dirichlet;
using protocom::testing::toy_world;
using protocom::testing::ToyWorld;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// The toy world with an untrained network: accuracies are arbitrary, but every path runs.
struct Bench {
  Bench() {
    at::manual_seed(2);
    ProtoComNetOptions options;
    options.feature_dim = world.features.dim();
    options.embedding_dim = world.knowledge.embedding_dim();
    const auto attributes = static_cast<int64_t>(world.knowledge.attributes.size());
    model = std::make_unique<CompletionModel>(
        CompletionModel{options, weights_of(ProtoComNet(options)), world.knowledge.attributes,
                        world.knowledge.attribute_embedding, array_of(at::randn({attributes, world.features.dim()})),
                        array_of(at::ones({attributes, world.features.dim()}))});
    classes = align_knowledge(world.knowledge, world.features.class_names, model->attributes);
  }

  [[nodiscard]] CheckedScores run(const EpisodeList& list) const {
    ScoringOptions options;
    options.predictions = KeepPredictions::kYes;
    return evaluate_checked({world.features, model.get(), &classes}, list, options, Progress::none());
  }
  [[nodiscard]] EpisodeList draw(const EpisodeShape& shape, int64_t count = 12, uint64_t seed = 1) const {
    return sample_episodes(world.features, {Split::kNovel, shape, count, seed});
  }

  ToyWorld world = toy_world();
  std::unique_ptr<CompletionModel> model;
  KnowledgeTable classes;
};

at::Tensor rows_of(const FeatureSet& features, const std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t> rows;
  for (const auto& group : groups) rows.insert(rows.end(), group.begin(), group.end());
  return tensor_of(features.features.gathered(rows));
}

/// Returns prototypes of an episode by the plain formulas of gauss_fusion.h and completer.h.
std::map<std::string, at::Tensor> reference_prototypes(const Bench& bench, const Episode& episode) {
  std::vector<at::Tensor> count;
  std::vector<at::Tensor> sum;
  std::vector<at::Tensor> squares;
  for (const auto& rows : episode.support) {
    const at::Tensor support = rows_of(bench.world.features, {rows});
    count.push_back(at::full({}, static_cast<double>(support.size(0))));
    sum.push_back(support.sum(0));
    squares.push_back((support * support).sum(0));
  }
  const SupportStatistics support{at::stack(count), at::stack(sum), at::stack(squares)};
  const at::Tensor mean = mean_prototypes(support);
  const Completer completer(*bench.model, bench.classes);
  const at::Tensor completed = protocom::tensor_of(completer.complete(float_matrix_of(mean), episode.classes));
  const at::Tensor unlabelled = rows_of(bench.world.features, episode.pool.empty() ? episode.query : episode.pool);
  return {{"mean", mean},
          {"completed", completed},
          {"mean-fusion", fuse_by_mean(mean, completed)},
          {"gauss-fusion", gauss_fusion(support, completed, unlabelled)}};
}

class EvaluateShapes : public ::testing::TestWithParam<int> {
 protected:
  static EpisodeShape shape() {
    const std::vector<EpisodeShape> shapes = {{5, 1, 7}, {5, 3, 4}, {6, 2, 5}, ragged_dirichlet()};
    return shapes[static_cast<size_t>(GetParam())];
  }
};

TEST_P(EvaluateShapes, AgreeWithThePlainFormulas) {
  const Bench bench;
  const EpisodeList list = bench.draw(shape());
  const at::Tensor centres =
      class_moments(tensor_of(bench.world.features.features), at::tensor(bench.world.features.labels, at::kLong),
                    static_cast<int64_t>(bench.world.features.class_names.size()))
          .mean();
  const testing::VectorFormKept kept;
  for (const auto& form : vector_form_names()) {
    use_vector_form(form);
    for (const MethodScores& scores : bench.run(list).methods) {
      auto one = scores.predictions.begin();
      for (size_t i = 0; i < list.episodes.size(); ++i) {
        const Episode& episode = list.episodes[i];
        const at::Tensor prototypes = reference_prototypes(bench, episode).at(scores.method);
        const at::Tensor probability =
            cosine_probabilities(rows_of(bench.world.features, episode.query), prototypes, 10.0);
        const at::Tensor best = std::get<0>(probability.topk(2, 1));
        for (int64_t q = 0; q < probability.size(0); ++q, ++one) {
          EXPECT_EQ(one->episode, static_cast<int64_t>(i));
          EXPECT_NEAR(one->probability, best[q][0].item<float>(), 2e-5) << form << " " << scores.method;
          EXPECT_NEAR(one->margin, (best[q][0] - best[q][1]).item<float>(), 4e-5);
          if (one->margin > 1e-4) {
            EXPECT_EQ(one->predicted, episode.classes[static_cast<size_t>(probability[q].argmax().item<int64_t>())]);
          }
        }
        const at::Tensor centre = centres.index_select(0, at::tensor(episode.classes, at::kLong));
        EXPECT_NEAR(scores.cosine[i],
                    at::cosine_similarity(prototypes.to(at::kDouble), centre, 1).mean().item<double>(), 1e-5);
      }
    }
  }
}

TEST_P(EvaluateShapes, DoNotDependOnThreadsToTheLastBit) {
  const Bench bench;
  const EpisodeList list = bench.draw(shape(), 37);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const auto expected = bench.run(list).methods;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    const auto found = bench.run(list).methods;
    for (size_t m = 0; m < found.size(); ++m) {
      EXPECT_EQ(found[m].accuracy, expected[m].accuracy);
      EXPECT_EQ(found[m].cosine, expected[m].cosine);
      for (size_t i = 0; i < found[m].predictions.size(); ++i)
        EXPECT_EQ(found[m].predictions[i].probability, expected[m].predictions[i].probability);
    }
  }
  at::set_num_threads(threads);
}

INSTANTIATE_TEST_SUITE_P(Shapes, EvaluateShapes, ::testing::Range(0, 4));

TEST(EvaluateProtocol, RecordsEveryQueryOnceAndAgreesWithItsOwnAccuracy) {
  const Bench bench;
  const EpisodeList list = bench.draw(ragged_dirichlet());
  for (const MethodScores& scores : bench.run(list).methods) {
    ASSERT_EQ(scores.predictions.size(), list.episodes.size() * 30);
    std::vector<double> correct(list.episodes.size());
    std::vector<std::set<int64_t>> rows(list.episodes.size());
    for (const Prediction& one : scores.predictions) {
      EXPECT_EQ(one.true_class, bench.world.features.labels[static_cast<size_t>(one.row)]);
      correct[static_cast<size_t>(one.episode)] += one.predicted == one.true_class ? 1 : 0;
      EXPECT_TRUE(rows[static_cast<size_t>(one.episode)].insert(one.row).second);
    }
    for (size_t i = 0; i < correct.size(); ++i) EXPECT_NEAR(scores.accuracy[i], 100 * correct[i] / 30, 1e-9);
  }
}

TEST(EvaluateProtocol, WithAPoolNoPredictionDependsOnTheOtherQueries) {
  const Bench bench;
  EpisodeShape shape{5, 1, 6};
  shape.unlabelled = 5;
  const EpisodeList together = bench.draw(shape);
  EpisodeList alone = together;
  for (auto& episode : alone.episodes) {
    for (auto& rows : episode.query) rows.resize(1);
  }
  const auto all = bench.run(together).methods;
  const auto few = bench.run(alone).methods;
  for (size_t m = 0; m < all.size(); ++m) {
    std::map<std::pair<int64_t, int64_t>, float> probability;
    for (const Prediction& one : all[m].predictions) probability[{one.episode, one.row}] = one.probability;
    for (const Prediction& one : few[m].predictions)
      EXPECT_EQ(one.probability, probability.at({one.episode, one.row})) << all[m].method;
  }
}

TEST(EvaluateProtocol, SaysWhatEachMethodMaySee) {
  EpisodeShape pooled_shape;
  pooled_shape.unlabelled = 1;
  EXPECT_EQ(mode_of(method_spec("gauss-fusion"), {5, 1, 15}), "transductive");
  EXPECT_EQ(mode_of(method_spec("gauss-fusion"), pooled_shape), "semi-supervised");
  EXPECT_EQ(mode_of(method_spec("completed"), pooled_shape), "inductive");
}

TEST(EvaluateProtocol, TellsWhatItChecked) {
  const Bench bench;
  const EpisodeList list = bench.draw({5, 2, 3}, 20);
  const ProtocolChecks checks = bench.run(list).checks;
  EXPECT_EQ(checks.episodes, 20);
  EXPECT_EQ(checks.rows, 20 * 5 * (2 + 3));
  EXPECT_EQ(checks.classes, 6);
  EXPECT_EQ(checks.permuted_episodes, 16);
  EXPECT_EQ(checks.permuted_queries, 4 * 16 * 15);  // four methods
  EXPECT_TRUE(checks.to_json().at("passed").get<bool>());
}

TEST(EvaluateProtocol, RefusesEpisodesThatBreakTheProtocol) {
  const Bench bench;
  const auto error_after = [&](const std::function<void(Episode&)>& change) {
    EpisodeList list = bench.draw({5, 2, 3}, 3);
    change(list.episodes[1]);
    return message_of([&] { static_cast<void>(bench.run(list)); });
  };
  EXPECT_THAT(error_after([](Episode& e) { e.query[0][0] = e.support[0][0]; }),
              AllOf(HasSubstr("episode 1"), HasSubstr("duplicate image"), HasSubstr("disjoint")));
  EXPECT_THAT(error_after([](Episode& e) { e.pool = e.query; }),
              HasSubstr("expected disjoint support, query and pool"));
  EXPECT_THAT(error_after([](Episode& e) { e.query[0][1] = e.query[0][0]; }), HasSubstr("duplicate image"));
  EXPECT_THAT(error_after([](Episode& e) { e.classes[0] = 0; }), HasSubstr("of the split 'base'"));
  EXPECT_THAT(error_after([](Episode& e) { e.classes[0] = e.classes[1]; }), HasSubstr("duplicate class"));
  EXPECT_THAT(error_after([](Episode& e) { std::swap(e.query[0], e.query[1]); }), HasSubstr("not its class"));
  EXPECT_THAT(error_after([](Episode& e) { e.support[0].clear(); }), HasSubstr("no support of class"));
  EXPECT_THAT(error_after([](Episode& e) { e.query.assign(5, {}); }), HasSubstr("no query"));
}

TEST(EvaluateProtocol, RefusesClassesThatTheModelWasTrainedOn) {
  const Bench bench;
  const EpisodeList list = bench.draw({5, 2, 3}, 3);
  bench.model->trained_on = {"class0", "class1"};
  EXPECT_EQ(bench.run(list).checks.trained_on, 2);
  const int64_t novel = bench.world.features.classes_of(Split::kNovel)[2];
  bench.model->trained_on.push_back(bench.world.features.class_names[static_cast<size_t>(novel)]);
  EXPECT_THAT(message_of([&] { static_cast<void>(bench.run(list)); }),
              AllOf(HasSubstr(bench.model->trained_on.back()), HasSubstr("trained on it")));
}

TEST(CheckPermutation, CatchesAClassifierThatUsesTheOrderOfTheQueries) {
  const Bench bench;
  const EpisodeList list = bench.draw({5, 1, 4});
  ProtocolChecks checks;
  const QueryClassifier leaky = [](const Episode&, const std::vector<int64_t>& query) {
    std::vector<QueryVerdict> verdicts;  // "sorted by class, four of each"
    for (size_t i = 0; i < query.size(); ++i) verdicts.push_back({static_cast<int64_t>(i / 4), 0.9F});
    return verdicts;
  };
  EXPECT_THAT(message_of([&] {
                check_permutation(bench.world.features, list, {"leaky", leaky}, checks);
              }),
              AllOf(HasSubstr("'leaky' predicts"), HasSubstr("another order")));
  const QueryClassifier by_row = [](const Episode&, const std::vector<int64_t>& query) {
    std::vector<QueryVerdict> verdicts;
    for (const int64_t row : query) verdicts.push_back({row % 5, 0.9F});
    return verdicts;
  };
  check_permutation(bench.world.features, list, {"by row", by_row}, checks);
  EXPECT_EQ(checks.permuted_queries, 12 * 20);
  EXPECT_EQ(checks.ties, 0);
}

TEST(CheckPermutation, DoesNotBlameAMethodForRounding) {
  const Bench bench;
  const EpisodeList list = bench.draw({5, 1, 4});
  ProtocolChecks checks;
  const QueryClassifier on_an_edge = [](const Episode&, const std::vector<int64_t>& query) {
    float sum = 0;  // almost 0, slightly above or below depending on the order of its terms
    for (const int64_t row : query) sum += 1.0F / static_cast<float>(row + 1);
    for (auto row = query.rbegin(); row != query.rend(); ++row) sum -= 1.0F / static_cast<float>(*row + 1);
    return std::vector<QueryVerdict>(query.size(), {sum > 0 ? 1 : 0, 0.9F});
  };
  check_permutation(bench.world.features, list, {"on an edge", on_an_edge}, checks);
  EXPECT_GT(checks.ties, 0);
}

TEST(CheckPermutation, CountsTies) {
  const Bench bench;
  const EpisodeList list = bench.draw({5, 1, 4});
  ProtocolChecks checks;
  const QueryClassifier undecided = [](const Episode&, const std::vector<int64_t>& query) {
    std::vector<QueryVerdict> verdicts;
    for (size_t i = 0; i < query.size(); ++i) verdicts.push_back({static_cast<int64_t>(i / 4), 1e-6F});
    return verdicts;
  };
  check_permutation(bench.world.features, list, {"undecided", undecided}, checks);
  EXPECT_GT(checks.ties, 0);
}

TEST(Predictions, AreOneLineForEachQueryAndMethod) {
  FeatureSet features;
  features.class_names = {"cat, tabby", "dog"};
  features.image_ids = {"a.png", "b.png"};
  const MethodScores one{"mean", "inductive", {50}, {0.5}, {{0, 1, 1, 0, 0.75F, 0.5F}}};
  std::string text = predictions_csv_header();
  append_predictions_csv({2, 1, 1}, {{3, {one}}}, features, text);
  EXPECT_EQ(text,
            "n_way,k_shot,seed,method,episode,image,true,predicted,probability,margin\n"
            "2,1,3,mean,0,b.png,dog,\"cat, tabby\",0.750000,0.500000\n");
}

}  // namespace
}  // namespace protocom
