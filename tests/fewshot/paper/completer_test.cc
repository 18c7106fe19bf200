#include "fewshot/paper/completer.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gmock/gmock.h>

#include <limits>

#include "base/error.h"
#include "heads/protocomnet.h"
#include "io/npz.h"
#include "support/golden.h"
#include "support/matrices.h"
#include "support/message_of.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using protocom::testing::error_of;
using protocom::testing::message_of;
using protocom::testing::TempDir;
using ::testing::HasSubstr;

CompletionModel small_model() {
  at::manual_seed(11);
  ProtoComNetOptions options;
  options.feature_dim = 16;
  options.embedding_dim = 6;
  options.code_dim = 8;
  options.attention_hidden = 10;
  options.decoder_hidden = 12;
  return {options,
          weights_of(ProtoComNet(options)),
          {"ear", "tail", "wing"},
          array_of(at::randn({3, 6})),
          array_of(at::randn({3, 16})),
          array_of(at::rand({3, 16}))};
}

KnowledgeTable four_classes() {
  return unnamed_table(
      array_of(at::tensor({1.0F, 0.0F, 1.0F, 0.0F, 0.5F, 0.0F, 1.0F, 1.0F, 1.0F, 0.0F, 0.0F, 0.0F}).view({4, 3})),
      array_of(at::randn({4, 6})));
}

/// Returns the network's own forward pass on the pairs of the given classes, with the attributes' means.
at::Tensor complete_by_network(const CompletionModel& model, const KnowledgeTable& classes,
                               const at::Tensor& prototypes, const at::Tensor& class_index) {
  CompletionInput input;
  input.prototypes = prototypes;
  input.class_embedding = tensor_of(classes.class_embedding).index_select(0, class_index);
  input.attribute_embedding = tensor_of(model.attribute_embedding);
  const at::Tensor r = tensor_of(classes.association).index_select(0, class_index);
  const at::Tensor pairs = r.nonzero();
  input.pair_prototype = pairs.select(1, 0).contiguous();
  input.pair_attribute = pairs.select(1, 1).contiguous();
  input.pair_weight = r.index({input.pair_prototype, input.pair_attribute});
  input.pair_feature = tensor_of(model.attribute_mean).index_select(0, input.pair_attribute);
  return ProtoComNet(model).forward(input);
}

at::Tensor completed_by(const Completer& completer, const at::Tensor& prototypes, const at::Tensor& index) {
  return protocom::tensor_of(completer.complete(float_matrix_of(prototypes), numbers_of(index.contiguous())));
}

TEST(Completer, AgreesWithTheNetwork) {
  const CompletionModel model = small_model();
  const KnowledgeTable classes = four_classes();
  const at::Tensor index = at::tensor({2, 0, 3, 1, 2, 2}, at::kLong);  // class 3 has no attribute
  const at::Tensor prototypes = at::randn({6, 16});
  const at::Tensor expected = complete_by_network(model, classes, prototypes, index).detach().to(at::kDouble);
  EXPECT_LT(error_of(completed_by(Completer(model, classes), prototypes, index), expected), 1e-5);
}

TEST(Completer, CompletesEachPrototypeToTheLastBitWhateverIsBesideIt) {
  at::manual_seed(7);
  for (const int64_t dim : {16, 24, 64}) {
    ProtoComNetOptions options = small_model().sizes;
    options.feature_dim = dim;
    const CompletionModel model{options,
                                weights_of(ProtoComNet(options)),
                                {"ear", "tail", "wing"},
                                array_of(at::randn({3, 6})),
                                array_of(at::randn({3, dim})),
                                array_of(at::rand({3, dim}))};
    const Completer completer(model, four_classes());
    const at::Tensor prototypes = at::randn({90, dim});
    const at::Tensor index = at::arange(90).remainder(4);
    const at::Tensor whole = completed_by(completer, prototypes, index);
    for (int64_t count = 1; count <= 45; ++count) {
      for (const int64_t first : {int64_t{0}, int64_t{3}, 90 - count}) {
        const at::Tensor some =
            completed_by(completer, prototypes.narrow(0, first, count), index.narrow(0, first, count));
        EXPECT_TRUE(some.equal(whole.narrow(0, first, count))) << dim << ": " << count << " from " << first;
      }
    }
  }
}

TEST(Completer, DoesNotDependOnThreadsToTheLastBit) {
  at::manual_seed(3);
  const ProtoComNetOptions sizes;
  const CompletionModel model{sizes,
                              weights_of(ProtoComNet(sizes)),
                              std::vector<std::string>(40, "part"),
                              array_of(at::randn({40, 300})),
                              array_of(at::randn({40, 512})),
                              array_of(at::ones({40, 512}))};
  const KnowledgeTable classes = unnamed_table(array_of(at::ones({20, 40})), array_of(at::randn({20, 300})));
  const at::Tensor prototypes = at::randn({20, 512});
  const int threads = at::get_num_threads();
  std::vector<at::Tensor> completed;
  for (const int count : {1, 2, 3}) {
    at::set_num_threads(count);
    completed.push_back(completed_by(Completer(model, classes), prototypes, at::arange(20)));
  }
  at::set_num_threads(threads);
  EXPECT_TRUE(completed[1].equal(completed[0]));
  EXPECT_TRUE(completed[2].equal(completed[0]));
}

TEST(Completer, RefusesPrototypesAndClassesThatDoNotFit) {
  const Completer completer(small_model(), four_classes());
  const auto refusal = [&](const at::Tensor& prototypes, const at::Tensor& index) {
    return message_of([&] { static_cast<void>(completed_by(completer, prototypes, index)); });
  };
  const at::Tensor two = at::ones({2, 16});
  EXPECT_EQ(refusal(two, at::tensor({0, 4}, at::kLong)),
            "classes of the prototypes: expected values in [0, 4), found 4");
  EXPECT_EQ(refusal(two, at::tensor({-1, 3}, at::kLong)),
            "classes of the prototypes: expected values in [0, 4), found -1");
  EXPECT_EQ(refusal(two, at::tensor({0, 1, 2}, at::kLong)), "classes of the prototypes: expected 2, found 3");
  EXPECT_EQ(refusal(at::ones({2, 15}), at::arange(2)), "prototypes to complete: expected 16 dimensions, found 15");
  EXPECT_EQ(completed_by(completer, at::ones({0, 16}), at::arange(0)).size(0), 0);
}

TEST(Completer, RefusesAModelAndClassesThatDoNotFitEachOther) {
  const auto refusal = [](const CompletionModel& model, const KnowledgeTable& classes) {
    return message_of([&] { Completer(model, classes); });
  };
  KnowledgeTable classes = four_classes();
  classes.association = array_of(at::ones({4, 2}));
  EXPECT_EQ(refusal(small_model(), classes),
            "association of the classes: expected float32 [any, 3], found float32 [4, 2]");
  classes = four_classes();
  classes.class_embedding = array_of(at::ones({4, 5}));
  EXPECT_THAT(refusal(small_model(), classes), HasSubstr("embeddings of the classes: expected float32 [4, 6]"));
  classes.class_embedding = array_of(at::ones({3, 6}));
  EXPECT_THAT(refusal(small_model(), classes), HasSubstr("expected float32 [4, 6], found float32 [3, 6]"));
  CompletionModel model = small_model();
  model.attribute_mean = array_of(at::ones({3, 15}));
  EXPECT_THAT(refusal(model, four_classes()), HasSubstr("attribute means of the model: expected float32 [3, 16]"));
  model = small_model();
  model.attribute_mean = array_of(at::ones({3, 16}, at::kDouble));
  EXPECT_THAT(refusal(model, four_classes()), HasSubstr("expected float32 [3, 16], found Double [3, 16]"));
  model = small_model();
  model.attribute_embedding = array_of(at::ones({2, 6}));
  EXPECT_THAT(refusal(model, four_classes()), HasSubstr("attribute embeddings of the model"));
  model = small_model();
  model.weights[0].second = array_of(at::ones({8, 15}));
  EXPECT_EQ(refusal(model, four_classes()), "encoder.weight: expected float32 [8, 16], found float32 [8, 15]");
  model.weights.erase(model.weights.begin());
  EXPECT_THAT(refusal(model, four_classes()), HasSubstr("no weights 'encoder.weight'"));
}

TEST(CompletionModel, ComesBackFromItsFile) {
  const TempDir folder;
  CompletionModel model = small_model();
  model.trained_on = {"cat", "dog"};
  Provenance provenance;
  provenance.command = "complete";
  provenance.seed = 5;
  write_completion_model(folder / "model.npz", model, provenance, {{"kept_epoch", 3}});
  const CompletionModel read = read_completion_model(folder / "model.npz");
  EXPECT_EQ(read.attributes, model.attributes);
  EXPECT_EQ(read.trained_on, model.trained_on);
  EXPECT_TRUE(tensor_of(read.attribute_mean).equal(tensor_of(model.attribute_mean)));
  EXPECT_TRUE(tensor_of(read.attribute_std).equal(tensor_of(model.attribute_std)));
  ASSERT_EQ(read.weights.size(), model.weights.size());
  for (size_t i = 0; i < model.weights.size(); ++i) {
    const auto& [name, array] = model.weights[i];
    EXPECT_EQ(read.weights[i].first, name);
    EXPECT_TRUE(tensor_of(read.weights[i].second).equal(tensor_of(array))) << name;
  }
  const ArtefactHeader header = read_any_header(folder / "model.npz");
  EXPECT_EQ(header.kind, "protocomnet");
  EXPECT_EQ(header.provenance.seed, 5U);
  EXPECT_EQ(header.details.at("kept_epoch"), 3);
}

TEST(CompletionModel, RefusesAFileWithoutAMember) {
  const TempDir folder;
  NpzWriter writer(folder / "model.npz");
  writer.add("attributes", std::vector<std::string>{"ear"});
  add_header(writer, make_header("protocomnet", 1, {}));
  writer.close();
  EXPECT_THROW(read_completion_model(folder / "model.npz"), Error);
}

// Sizes and numbers of a file are checked against what is in it before anything is made of them.
TEST(CompletionModelFile, RefusesNumbersThatAreNone) {
  const TempDir folder;
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int part = 0; part < 4; ++part) {
      CompletionModel model = small_model();
      const Array& target = part == 0   ? model.attribute_mean
                            : part == 1 ? model.attribute_std
                            : part == 2 ? model.attribute_embedding
                                        : model.weight("decoder.2.weight");
      tensor_of(target)[0][0] = bad;
      write_completion_model(folder / "m.npz", model, {}, nlohmann::json::object());
      EXPECT_THAT(protocom::testing::message_of([&] { read_completion_model(folder / "m.npz"); }),
                  ::testing::AllOf(::testing::HasSubstr("m.npz"), ::testing::HasSubstr("is not finite")))
          << part;
    }
  }
  CompletionModel model = small_model();
  tensor_of(model.attribute_std)[0][0] = -1.0;
  write_completion_model(folder / "m.npz", model, {}, nlohmann::json::object());
  EXPECT_THAT(protocom::testing::message_of([&] { read_completion_model(folder / "m.npz"); }),
              ::testing::HasSubstr("below 0"));
}

TEST(CompletionModelFile, KeepsWhatClassifiesAnImageByItselfAndRefusesWhatIsNoRow) {
  const TempDir folder;
  CompletionModel model = small_model();
  model.inductive_method = "completed";
  write_completion_model(folder / "m.npz", model, {}, nlohmann::json::object());
  EXPECT_EQ(read_completion_model(folder / "m.npz").inductive_method, "completed");
  model.inductive_method = "gauss-fusion";
  write_completion_model(folder / "m.npz", model, {}, nlohmann::json::object());
  EXPECT_THAT(protocom::testing::message_of([&] { read_completion_model(folder / "m.npz"); }),
              ::testing::AllOf(::testing::HasSubstr("m.npz"), ::testing::HasSubstr("\"gauss-fusion\"")));
}

TEST(CompletionModelFile, RefusesSizesThatItsWeightsDoNotHave) {
  const TempDir folder;
  const CompletionModel model = small_model();
  for (const char* size : {"feature_dim", "embedding_dim", "code_dim", "attention_hidden", "decoder_hidden"}) {
    for (const int64_t lie : {int64_t{-1}, int64_t{0}, int64_t{1000}, int64_t{1} << 20, int64_t{1} << 40}) {
      write_completion_model(folder / "m.npz", model, {}, nlohmann::json::object());
      const NpzReader reader(folder / "m.npz");
      nlohmann::json header = nlohmann::json::parse(reader.bytes("header.json"));
      header["details"]["network"][size] = lie;
      NpzWriter writer(folder / "lie.npz");
      for (const std::string& name : reader.names()) {
        if (name == "header.json") {
          writer.add_bytes(name, header.dump());
        } else {
          writer.add_bytes(name + ".npy", reader.bytes(name));
        }
      }
      writer.close();
      EXPECT_THAT(protocom::testing::message_of([&] { read_completion_model(folder / "lie.npz"); }),
                  ::testing::HasSubstr("lie.npz"))
          << size << " " << lie;
    }
  }
}

}  // namespace
}  // namespace protocom
