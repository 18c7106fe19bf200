// Mistakes that a caller may make with numbers in memory: each is one sentence of protocom::Error, whatever library
// found it.
#include <cmath>
#include <functional>
#include <limits>
#include <map>

#include "api/api_support.h"
#include "protocom/backbone.h"
#include "protocom/evaluate.h"
#include "protocom/fit.h"
#include "protocom/image.h"
#include "protocom/method.h"
#include "protocom/process.h"
#include "protocom/recognizer.h"
#include "protocom/server.h"
#include "protocom/train.h"
#include "support/environment.h"

namespace protocom::testing {
namespace {

using ::testing::HasSubstr;

struct Misuse {
  const char* what;
  std::function<void()> call;
  const char* words;  // expected in the sentence
};

std::vector<float> with(std::vector<float> values, size_t place, float value) {
  values[place] = value;
  return values;
}

std::vector<int64_t> without_last(std::vector<int64_t> labels) {
  labels.pop_back();
  return labels;
}

FeatureSetOptions set_options(std::vector<std::string> names, std::vector<std::string> split,
                              std::vector<std::string> ids = {}) {
  FeatureSetOptions options;
  options.class_names = std::move(names);
  options.split = std::move(split);
  options.ids = std::move(ids);
  return options;
}

void make_set(const std::vector<float>& features, const std::vector<int64_t>& labels,
              const FeatureSetOptions& options = {}) {
  const FeatureSet made({features, 4}, labels, options);
}

void make_set(const FeatureSetOptions& options) { make_set(axes(), classes_of_axes(), options); }

void classify(const std::string& method, const std::vector<float>& queries, int64_t dim,
              const ClassifierOptions& options = {}) {
  static_cast<void>(Classifier(method, {axes(), 4}, classes_of_axes(), options).predict({queries, dim}));
}

void draw(const std::function<void(EpisodeOptions&)>& spoil) {
  EpisodeOptions options;
  options.shape.n_way = 3;
  options.shape.n_query = 2;
  options.count = 2;
  spoil(options);
  const Episodes drawn(FeatureSet({axes(), 4}, classes_of_axes()), options);
}

Episodes some_episodes() {
  EpisodeOptions options;
  options.shape.n_way = 3;
  options.shape.n_query = 2;
  options.count = 2;
  return Episodes(FeatureSet({axes(), 4}, classes_of_axes()), options);
}

void evaluate_methods(const std::vector<std::string>& methods) {
  EvaluateOptions options;
  options.methods = methods;
  evaluate(some_episodes(), options);
}

const float kNan = std::nanf("");
const float kInfinite = std::numeric_limits<float>::infinity();

class ApiMisuse : public ApiTest {
 protected:
  void expect_sentences(const std::vector<Misuse>& table) {
    for (const Misuse& one : table) {
      const std::string stated = said_by(one.call);
      EXPECT_THAT(stated, HasSubstr(one.words)) << one.what;
      EXPECT_EQ(stated.find('\n'), std::string::npos) << one.what << ": " << stated;
      EXPECT_EQ(stated.find("Exception raised"), std::string::npos) << one.what << ": " << stated;
      EXPECT_LE(stated.size(), 1000U) << one.what;
    }
  }
};

TEST_F(ApiMisuse, OfFeaturesAndLabelsIsOneSentence) {
  expect_sentences({
      {"an empty set", [] { make_set({}, {}); }, "features: expected a row of numbers per image, found none"},
      {"a set of one dimension",
       [] {
         FeatureSet({axes(), 0}, classes_of_axes());
       },
       "dim: expected at least 1"},
      {"numbers that are no rows",
       [] {
         FeatureSet({axes(), 5}, classes_of_axes());
       },
       "48 numbers are not a multiple of the row length 5"},
      {"features shorter than labels",
       [] {
         make_set({1, 2, 3, 4}, {0, 1});
       },
       "1 rows of features and 2 labels"},
      {"labels too short", [] { make_set(axes(), without_last(classes_of_axes())); },
       "12 rows of features and 11 labels"},
      {"a split too short",
       [] {
         make_set(set_options({}, {"base", "novel"}));
       },
       "the split has 2 entries for 3 classes"},
      {"no split", [] { make_set(set_options({}, {})); }, "missing split"},
      {"an unknown split", [] { make_set(set_options({}, {"tset"})); }, "tset"},
      {"class names too short",
       [] {
         make_set(set_options({"a", "b"}, {"novel"}));
       },
       "label out of range: row 8 has 2, there are 2 classes"},
      {"class names that repeat",
       [] {
         make_set(set_options({"a", "b", "a"}, {"novel"}));
       },
       "'a'"},
      {"ids too short",
       [] {
         make_set(set_options({}, {"novel"}, {"1", "2"}));
       },
       "2 image ids for 12 feature rows"},
      {"ids that repeat", [] { make_set(set_options({}, {"novel"}, std::vector<std::string>(12, "1"))); }, "'1'"},
      {"a negative label",
       [] {
         make_set({1, 2, 3, 4}, {-1});
       },
       "label out of range: row 0 has -1"},
      {"a label that is not a class",
       [] {
         make_set({1, 2, 3, 4}, {int64_t{1} << 40});
       },
       "labels without class names"},
      {"NaN", [] { make_set(with(axes(), 5, kNan), classes_of_axes()); }, "NaN"},
      {"infinity", [] { make_set(with(axes(), 5, kInfinite), classes_of_axes()); }, "NaN or infinity"},
      {"a double beyond float",
       [] {
         FeatureSet({std::vector<double>{1e300, 0, 0, 0}, 4}, std::vector<int64_t>{0});
       },
       "NaN or infinity"},
      {"a null pointer", [] { Rows(static_cast<const float*>(nullptr), 2, 4); }, "null pointer"},
      {"a negative number of rows", [] { Rows(axes().data(), -1, 4); }, "-1 rows"},
      {"labels at a null pointer", [] { Labels(static_cast<const int32_t*>(nullptr), 2); }, "null pointer"},
      {"a label without a name",
       [] {
         Labels(std::vector<std::string>{"a", ""});
       },
       "empty name"},
      {"a matrix that is none",
       [] {
         Rows(Matrix{{1, 2}, 2, 2});
       },
       "expected a matrix of 2 x 2, found 2 numbers"},
      {"a file that is not there", [] { FeatureSet::read("none.npz"); }, "none.npz"},
      {"a table of another shape",
       [] {
         Knowledge({"a", "b"}, {"x"}, {std::vector<float>{1}, 1});
       },
       "expected [2, 1]"},
      {"a weight above one",
       [] {
         Knowledge({"a"}, {"x"}, {std::vector<float>{2}, 1});
       },
       "[0, 1]"},
      {"no knowledge at all",
       [] {
         Knowledge({}, {"x"}, {std::vector<float>{}, 1});
       },
       "found none"},
  });
}

TEST_F(ApiMisuse, OfMethodsIsOneSentence) {
  ClassifierOptions two_names, of_other_size, with_model, strange_base;
  two_names.class_names = {"a", "b"};
  of_other_size.fitted = {fit("plda", FeatureSet::read(features(file("features.npz"))))};
  with_model.model = CompletionModel::read(completion_model(file("model.npz")));
  strange_base.base = FeatureSet::read(file("features.npz"));
  const std::vector<float> q = queries_of_axes();
  expect_sentences({
      {"queries of another width", [&] { classify("mean", q, 3); },
       "queries have 3 dimensions, the labelled features 4"},
      {"no query", [] { classify("mean", {}, 4); }, "queries: expected a row of numbers per image, found none"},
      {"queries that are NaN", [&] { classify("mean", with(q, 0, kNan), 4); }, "NaN"},
      {"labels too short",
       [] {
         Classifier("mean", {axes(), 4}, without_last(classes_of_axes()));
       },
       "12 rows of features and 11 labels"},
      {"names too short", [&] { classify("mean", q, 4, two_names); }, "there are 2 classes"},
      {"a class without an image",
       [] {
         Classifier("mean", {std::vector<float>{1, 2}, 2}, std::vector<int64_t>{1});
       },
       "labels without class names"},
      {"a negative label",
       [] {
         Classifier("mean", {std::vector<float>{1, 2}, 2}, std::vector<int64_t>{-1});
       },
       "at least one class"},
      {"no image",
       [] {
         Classifier("mean", {std::vector<float>{}, 2}, std::vector<int64_t>{});
       },
       "at least one class"},
      {"an unknown method", [&] { classify("pldaa", q, 4); }, "unknown method 'pldaa'"},
      {"an unknown parameter", [&] { classify("mean:gama=2", q, 4); }, "gama"},
      {"a value out of range", [&] { classify("mean:gamma=-2", q, 4); }, "gamma"},
      {"a method that needs base classes", [&] { classify("tim:transform=cl2n", q, 4); }, "needs features of"},
      {"base classes of another width", [&] { classify("tim", q, 4, strange_base); },
       "features of base classes have 6 dimensions"},
      {"a method that needs fitting", [&] { classify("am3", q, 4); }, "am3"},
      {"fitted on another width", [&] { classify("plda", q, 4, of_other_size); }, "was fitted on 6"},
      {"a model without knowledge", [&] { classify("completed", q, 4, with_model); }, "needs knowledge of the classes"},
      {"shares of too few classes",
       [&] {
         static_cast<void>(
             Classifier("plda-vb:proportions=given", {axes(), 4}, classes_of_axes()).probabilities({q, 4}, {1, 2}));
       },
       "one number per class, [3]"},
      {"shares below zero",
       [&] {
         static_cast<void>(
             Classifier("plda-vb:proportions=given", {axes(), 4}, classes_of_axes()).probabilities({q, 4}, {1, 2, -3}));
       },
       "at least 0"},
      {"fitting what needs none", [&] { fit("mean", *strange_base.base); }, "needs no fitting"},
      {"fitting without base classes",
       [] {
         fit("plda", FeatureSet({axes(), 4}, classes_of_axes()));
       },
       "base"},
      {"a fitted file that is not there", [] { Fitted::read("none.npz"); }, "none.npz"},
      {"no threads", [] { set_threads(-1); }, "-1"},
      {"completing without epochs",
       [&] {
         CompleteOptions options;
         options.epochs = 0;
         complete(*strange_base.base, Knowledge({"0"}, {"x"}, {std::vector<float>{1}, 1}), "model.npz", options);
       },
       "at least 1"},
  });
}

TEST_F(ApiMisuse, OfEpisodesIsOneSentence) {
  expect_sentences({
      {"no ways", [] { draw([](EpisodeOptions& one) { one.shape.n_way = 0; }); }, "n_way: expected a whole number"},
      {"more ways than classes", [] { draw([](EpisodeOptions& one) { one.shape.n_way = 4; }); }, "4"},
      {"fewer shots than none", [] { draw([](EpisodeOptions& one) { one.shape.k_shot = -1; }); }, "-1"},
      {"no shots for a method that needs one",
       [] {
         EpisodeOptions tasks;
         tasks.shape.n_way = 3;
         tasks.shape.n_query = 2;
         tasks.shape.k_shot = 0;
         EvaluateOptions options;
         options.methods = {"mean"};
         evaluate(Episodes(FeatureSet({axes(), 4}, classes_of_axes()), tasks), options);
       },
       "labelled images per class"},
      {"more images than there are", [] { draw([](EpisodeOptions& one) { one.shape.n_query = 9; }); }, "images"},
      {"no queries", [] { draw([](EpisodeOptions& one) { one.shape.n_query = 0; }); },
       "n_query: expected a whole number"},
      {"a negative number of episodes", [] { draw([](EpisodeOptions& one) { one.count = -1; }); }, "count: expected"},
      {"a negative pool", [] { draw([](EpisodeOptions& one) { one.shape.unlabelled = -1; }); }, "unlabelled: expected"},
      {"a split without classes", [] { draw([](EpisodeOptions& one) { one.split = Split::kBase; }); }, "base"},
      {"an alpha of nothing", [] { draw([](EpisodeOptions& one) { one.shape.alpha = 0; }); }, "alpha"},
      {"an alpha that is NaN", [] { draw([](EpisodeOptions& one) { one.shape.alpha = kNan; }); }, "alpha"},
      {"an episode that is not there", [] { static_cast<void>(some_episodes()[2]); }, "there are 2 episodes"},
      {"nothing to evaluate on", [] { evaluate(std::vector<Episodes>()); }, "no episodes"},
      {"episodes of two sets",
       [] {
         evaluate({some_episodes(), some_episodes()});
       },
       "expected one FeatureSet"},
      {"a method twice",
       [] {
         evaluate_methods({"mean", "mean"});
       },
       "duplicate method 'mean'"},
      {"a method that lacks what it needs", [] { evaluate_methods({"completed"}); }, "completion model"},
      {"a result that is not there", [] { static_cast<void>(Results().of("plda")); }, "'plda' was not evaluated"},
      {"a file of episodes that is none",
       [] {
         Episodes::read("none.json", FeatureSet({axes(), 4}, classes_of_axes()));
       },
       "none.json"},
  });
}

TEST_F(ApiMisuse, OfImagesAndRecognizersIsOneSentence) {
  const Backbone backbone(encoder(file("encoder.npz")));
  RecognizerParts parts;
  parts.backbone = file("encoder.npz");
  Recognizer empty = Recognizer::create(file("empty.pcm"), parts);
  const std::vector<uint8_t> rgb = pixels(1, 2, 3);
  RecognizerOptions none_at_the_top;
  none_at_the_top.top = 0;
  ServerOptions no_port, to_all;
  no_port.port = -1;
  to_all.address = "0.0.0.0";
  const std::vector<float> row(64);
  expect_sentences({
      {"an encoder that is not there", [] { Backbone("none.pt"); }, "none.pt"},
      {"no images", [&] { static_cast<void>(backbone.extract({})); }, "expected at least one image"},
      {"an image that is not there", [&] { static_cast<void>(backbone.extract({"none.png"})); }, "none.png"},
      {"bytes that are no image", [&] { static_cast<void>(backbone.extract({Image::encoded("no image")})); },
       "image 0"},
      {"no bytes", [] { Image::encoded(nullptr, 0); }, "no bytes"},
      {"pixels at a null pointer", [] { Image::rgb(nullptr, 4, 4); }, "null pointer"},
      {"an image of no height", [&] { Image::rgb(rgb.data(), 0, 4); }, "found 0 x 4"},
      {"an image of more than memory", [&] { Image::rgb(rgb.data(), 1 << 20, 1 << 20); }, "pixels"},
      {"a stride below a row", [&] { Image::rgb(rgb.data(), 4, 4, 11); }, "at least 12 bytes, found 11"},
      {"a path at a null pointer", [] { Image(static_cast<const char*>(nullptr)); }, "null pointer"},
      {"an empty path", [] { Image(""); }, "empty"},
      {"a batch of nothing",
       [&] {
         BackboneOptions options;
         options.batch = 0;
         Backbone(file("encoder.npz"), options);
       },
       "at least one image"},
      {"an unknown device",
       [&] {
         BackboneOptions options;
         options.device = "abacus";
         Backbone(file("encoder.npz"), options);
       },
       "abacus"},
      {"a recognizer that is not there", [] { Recognizer::open("none.pcm"); }, "none.pcm: no such file"},
      {"a recognizer without an encoder",
       [&] {
         const Environment named("PROTOCOM_ENCODER", "nobodys-encoder");
         Recognizer::create(file("b.pcm"), {});
       },
       "nobodys-encoder: no such file"},
      {"a recognizer that is there", [&] { Recognizer::create(file("empty.pcm"), parts); }, "empty.pcm"},
      {"no class to answer with", [&] { empty.classify(Image::rgb(rgb.data(), kSide, kSide)); }, "class"},
      {"no image to classify", [&] { empty.classify(std::vector<Image>()); }, "expected at least one image"},
      {"features of another width",
       [&] {
         empty.classify_features({row, 32});
       },
       "features: expected float32 [n, 64]"},
      {"no features",
       [&] {
         empty.enrol_features("a", {std::vector<float>(), 64});
       },
       "found none"},
      {"features that are NaN",
       [&] {
         empty.enrol_features("a", {with(row, 3, kNan), 64});
       },
       "NaN"},
      {"a class without a name",
       [&] {
         empty.enrol_features("", {row, 64});
       },
       "name"},
      {"an attribute without knowledge",
       [&] {
         empty.enrol_features({"a", {"red"}}, {row, 64});
       },
       "knowledge"},
      {"a folder that is not there",
       [&] {
         EnrolSources sources;
         sources.folder = "none";
         empty.enrol(sources);
       },
       "none"},
      {"a class that is not there", [&] { empty.remove("a"); }, "'a'"},
      {"images of a class that is not there", [&] { static_cast<void>(empty.examples("a")); }, "'a'"},
      {"an image that was not enrolled", [&] { empty.remove_examples({7}); }, "7"},
      {"nothing to undo", [&] { empty.undo(); }, "undo"},
      {"nothing to redo", [&] { empty.redo(); }, "redo"},
      {"a rate of two", [&] { empty.calibrate({}, {2.0}); }, ""},
      {"an answer of no classes", [&] { Recognizer::open(file("empty.pcm"), none_at_the_top); },
       "top: expected a whole number from 1 to"},
      {"a port below zero", [&] { Server(file("empty.pcm"), no_port); }, "port: expected a number between 0 and 65535"},
      {"an open server without keys", [&] { Server(file("empty.pcm"), to_all); }, "keys"},
  });
}

}  // namespace
}  // namespace protocom::testing
