#include "knowledge/build.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include "base/error.h"
#include "knowledge/choose_synset.h"
#include "knowledge/class_description.h"
#include "knowledge/mini_wordnet.h"
#include "knowledge/wordnet_attributes.h"
#include "support/temp_dir.h"
#include "tensors/tensors.h"

namespace protocom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Returns zebra: stripes, mane; horse: mane, hoof (base). tiger: stripes, claw; fish: fin (unseen). rock: nothing
/// (base).
AttributeTable animals() {
  AttributeTable table;
  table.classes = {"zebra", "horse", "rock", "tiger", "fish"};
  table.attributes = {"stripes", "mane", "hoof", "claw", "fin"};
  table.association = array_of(at::tensor({1.0F, 1.0F, 0.0F, 0.0F, 0.0F,  //
                                           0.0F, 1.0F, 1.0F, 0.0F, 0.0F,  //
                                           0.0F, 0.0F, 0.0F, 0.0F, 0.0F,  //
                                           1.0F, 0.0F, 0.0F, 1.0F, 0.0F,  //
                                           0.0F, 0.0F, 0.0F, 0.0F, 1.0F})
                                   .reshape({5, 5}));
  for (const auto* names : {&table.classes, &table.attributes}) {
    for (const std::string& name : *names) table.lemmas[name] = {name};
  }
  table.source = {{"kind", "table"}};
  return table;
}

const ClassSides kSides{{"zebra", "horse", "rock"}, {"tiger", "fish"}};

BuildOptions with(Vocabulary vocabulary) {
  BuildOptions options;
  options.sides = kSides;
  options.vocabulary = vocabulary;
  return options;
}

using Names = std::vector<std::string>;

TEST(Vocabularies, KeepTheAttributesOfTheirSides) {
  EXPECT_THAT(select_classes(animals(), kSides, Vocabulary::kBase).attributes, ElementsAre("stripes", "mane", "hoof"));
  EXPECT_THAT(select_classes(animals(), kSides, Vocabulary::kShared).attributes, ElementsAre("stripes"));
  EXPECT_THAT(select_classes(animals(), kSides, Vocabulary::kAll).attributes,
              ElementsAre("stripes", "mane", "hoof", "claw", "fin"));
}

TEST(Vocabularies, HaveNames) {
  for (const Vocabulary vocabulary : {Vocabulary::kBase, Vocabulary::kShared, Vocabulary::kAll}) {
    EXPECT_EQ(parse_vocabulary(to_string(vocabulary)), vocabulary);
  }
  EXPECT_THROW(parse_vocabulary("novel"), UsageError);
}

TEST(SelectClasses, SortsTheSplitsClassesAndKeepsTheirRows) {
  const AttributeTable selected = select_classes(animals(), {{"zebra"}, {"tiger"}}, Vocabulary::kAll);
  EXPECT_THAT(selected.classes, ElementsAre("tiger", "zebra"));
  EXPECT_TRUE(tensor_of(selected.association)
                  .equal(at::tensor({1.0F, 0.0F, 0.0F, 1.0F, 0.0F, 1.0F, 1.0F, 0.0F, 0.0F, 0.0F}).reshape({2, 5})));
  EXPECT_EQ(selected.source.at("classes_not_in_split"), (nlohmann::json{"horse", "rock", "fish"}));
}

TEST(SelectClasses, GivesClassesThatTheSourceDoesNotNameZeroRows) {
  const AttributeTable selected = select_classes(animals(), {{"zebra"}, {"unicorn"}}, Vocabulary::kBase);
  EXPECT_THAT(selected.classes, ElementsAre("unicorn", "zebra"));
  EXPECT_EQ(tensor_of(selected.association)[0].count_nonzero().item<int64_t>(), 0);
  EXPECT_EQ(selected.source.at("classes_without_source"), nlohmann::json{"unicorn"});
}

TEST(SelectClasses, RefusesASplitThatNamesNothingOrAClassOnBothSides) {
  EXPECT_THROW(select_classes(animals(), {{"zebra"}, {"zebra"}}, Vocabulary::kBase), Error);
  EXPECT_THROW(select_classes(animals(), {{}, {}}, Vocabulary::kBase), Error);
  try {
    select_classes(animals(), {{"n01"}, {"n02"}}, Vocabulary::kBase);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("names none of the 2 classes of the split"));
    EXPECT_THAT(error.what(), HasSubstr("'n01', the source 'zebra'"));
  }
}

TEST(BuildKnowledge, ReportsWhatIsMissing) {
  const Knowledge knowledge = build_knowledge(animals(), with(Vocabulary::kAll));
  EXPECT_EQ(knowledge.details.at("n_classes"), 5);
  EXPECT_EQ(knowledge.details.at("n_attributes"), 5);
  EXPECT_EQ(knowledge.details.at("n_edges"), 7);
  EXPECT_EQ(knowledge.details.at("attributes_per_class"), (nlohmann::json{{"min", 0}, {"median", 2}, {"max", 2}}));
  EXPECT_EQ(knowledge.details.at("classes_without_attributes"), nlohmann::json{"rock"});
  EXPECT_EQ(knowledge.details.at("attributes_without_base_class"), (nlohmann::json{"claw", "fin"}));
  EXPECT_EQ(knowledge.details.at("embedding").at("kind"), "graph-svd");
}

TEST(BuildKnowledge, GivesNoveltyOnlyClassesAZeroRowUnderTheBaseVocabulary) {
  const Knowledge knowledge = build_knowledge(animals(), with(Vocabulary::kBase));
  EXPECT_EQ(knowledge.details.at("classes_without_attributes"), (nlohmann::json{"fish", "rock"}));
  EXPECT_EQ(tensor_of(knowledge.class_embedding)[knowledge.class_index("fish")].count_nonzero().item<int64_t>(), 0);
  EXPECT_TRUE(knowledge.details.at("attributes_without_base_class").empty());
  EXPECT_EQ(knowledge.details.at("attributes_left_out"), (nlohmann::json{"claw", "fin"}));
}

TEST(BuildKnowledge, WithoutASplitTakesEverything) {
  const Knowledge knowledge = build_knowledge(animals(), {});
  EXPECT_EQ(knowledge.classes.size(), 5U);
  EXPECT_EQ(knowledge.attributes.size(), 5U);
  EXPECT_TRUE(knowledge.details.at("attributes_without_base_class").empty());
}

TEST(BuildKnowledge, SurvivesATableWithoutAnyAttribute) {
  AttributeTable table = animals();
  table.attributes.clear();
  table.association = array_of(at::zeros({5, 0}));
  const Knowledge knowledge = build_knowledge(table, with(Vocabulary::kShared));
  EXPECT_EQ(tensor_of(knowledge.association).sizes(), (std::vector<int64_t>{5, 0}));
  EXPECT_EQ(knowledge.details.at("classes_without_attributes").size(), 5U);
}

TEST(BuildKnowledge, EmbedsByWordVectorsAndListsWordsThatHaveNone) {
  const testing::TempDir folder;
  std::ofstream(folder / "v.txt") << "zebra 1 2\nmane 3 4\nstripes 5 6\n";
  BuildOptions options = with(Vocabulary::kBase);
  options.vectors = folder / "v.txt";
  const Knowledge knowledge = build_knowledge(animals(), options);
  EXPECT_TRUE(tensor_of(knowledge.class_embedding)[knowledge.class_index("zebra")].equal(at::tensor({1.0F, 2.0F})));
  EXPECT_TRUE(
      tensor_of(knowledge.attribute_embedding)[knowledge.attribute_index("mane")].equal(at::tensor({3.0F, 4.0F})));
  EXPECT_TRUE(tensor_of(knowledge.class_embedding)[knowledge.class_index("tiger")].equal(at::zeros({2})));
  EXPECT_EQ(knowledge.details.at("words_not_found"), (nlohmann::json{"fish", "hoof", "horse", "rock", "tiger"}));
  EXPECT_EQ(knowledge.details.at("without_embedding"), (nlohmann::json{"fish", "horse", "rock", "tiger", "hoof"}));
  EXPECT_EQ(knowledge.details.at("embedding").at("kind"), "word-vectors");
}

TEST(BuildKnowledge, UnderTheBaseVocabularyTheGraphsEmbeddingDoesNotDependOnUnseenClasses) {
  const Knowledge all = build_knowledge(animals(), with(Vocabulary::kBase));
  BuildOptions alone = with(Vocabulary::kBase);
  alone.sides->unseen = {"tiger"};
  const Knowledge fewer = build_knowledge(animals(), alone);
  EXPECT_TRUE(tensor_of(all.attribute_embedding).equal(tensor_of(fewer.attribute_embedding)));
  EXPECT_TRUE(tensor_of(all.class_embedding)[all.class_index("zebra")].equal(
      tensor_of(fewer.class_embedding)[fewer.class_index("zebra")]));
}

TEST(GraphJson, ListsNodesAndEdges) {
  const nlohmann::json graph = graph_json(build_knowledge(animals(), with(Vocabulary::kShared)));
  EXPECT_EQ(graph.at("nodes"), (nlohmann::json{"fish", "horse", "rock", "tiger", "zebra", "stripes"}));
  EXPECT_EQ(graph.at("edges"), nlohmann::json::parse(R"([["tiger", "stripes"], ["zebra", "stripes"]])"));
}

TEST(ClassDescription, FromAttributesHasTheirRowWhetherNamedOrTitled) {
  Knowledge knowledge = build_knowledge(animals(), with(Vocabulary::kBase));
  knowledge.titles["hoof"] = "hoof of an ungulate, ungula";
  const ClassDescription okapi = describe_by_attributes(knowledge, "my_okapi", {"stripes", "ungula"});
  EXPECT_EQ(okapi.title, "my okapi");
  EXPECT_TRUE(tensor_of(okapi.association).equal(at::tensor({1.0F, 0.0F, 1.0F})));
  EXPECT_EQ(okapi.embedding_source, "attributes");
  EXPECT_EQ(tensor_of(okapi.embedding).size(0), knowledge.embedding_dim());
  EXPECT_THROW(describe_by_attributes(knowledge, "x", {"strypes"}), Error);
  // As users type: spaces, case, singular or plural.
  for (const char* typed : {" Ungula ", "ungulas", "HOOF", "hoofs", "hooves"})
    EXPECT_TRUE(tensor_of(describe_by_attributes(knowledge, "x", {"stripe", typed}).association)
                    .equal(tensor_of(okapi.association)))
        << typed;
}

TEST(ClassDescription, HasItsAttributesByTheirWeights) {
  const Knowledge knowledge = build_knowledge(animals(), with(Vocabulary::kBase));
  DescribeOptions weighted;
  weighted.weights = {0.25F, 0.5F, 0.75F};
  const ClassDescription okapi = describe_by_attributes(knowledge, "okapi", {"stripes", "hoof", "stripe"}, weighted);
  EXPECT_TRUE(tensor_of(okapi.association).equal(at::tensor({0.75F, 0.0F, 0.5F}))) << tensor_of(okapi.association);
  EXPECT_THROW(describe_by_attributes(knowledge, "okapi", {"stripes"}, weighted), UsageError);
  for (const float wrong : {0.0F, -1.0F, 7.0F, std::numeric_limits<float>::quiet_NaN()}) {
    weighted.weights = {wrong};
    EXPECT_THROW(describe_by_attributes(knowledge, "okapi", {"stripes"}, weighted), UsageError) << wrong;
  }
}

TEST(ClassDescription, OfWhichNothingIsKnownHasItsEmbeddingFromNothing) {
  const testing::TempDir folder;
  std::ofstream(folder / "v.txt") << "zebra 1 2\nokapi 7 8\n";
  BuildOptions options = with(Vocabulary::kBase);
  options.vectors = folder / "v.txt";
  const ClassDescription xyzzy =
      describe_by_attributes(build_knowledge(animals(), options), "xyzzy", {}, DescribeOptions{options.vectors});
  EXPECT_EQ(xyzzy.embedding_source, "nothing");
  EXPECT_TRUE(tensor_of(xyzzy.embedding).equal(at::zeros({2})));
  DescribeOptions lenient;
  lenient.unknown = UnknownAttribute::kLeaveOut;
  const Knowledge graph = build_knowledge(animals(), with(Vocabulary::kBase));
  EXPECT_EQ(describe_by_attributes(graph, "ufo", {"saucer"}, lenient).embedding_source, "nothing");
}

TEST(ClassDescription, WithWordVectorsIsEmbeddedByItsNameIfThatHasAVector) {
  const testing::TempDir folder;
  std::ofstream(folder / "v.txt") << "zebra 1 2\nokapi 7 8\n";
  BuildOptions options = with(Vocabulary::kBase);
  options.vectors = folder / "v.txt";
  const Knowledge knowledge = build_knowledge(animals(), options);
  DescribeOptions vectors{options.vectors};
  EXPECT_TRUE(tensor_of(describe_by_attributes(knowledge, "Okapi", {"mane"}, vectors).embedding)
                  .equal(at::tensor({7.0F, 8.0F})));
  EXPECT_EQ(describe_by_attributes(knowledge, "xyzzy", {"mane"}, vectors).embedding_source, "attributes");
  std::ofstream(folder / "v3.txt") << "okapi 1 2 3\n";
  vectors.vectors = folder / "v3.txt";
  EXPECT_THROW(describe_by_attributes(knowledge, "okapi", {"mane"}, vectors), Error);
}

TEST(ClassDescription, ClassesWithEqualAttributesGetEqualEmbeddings) {
  const Knowledge knowledge = build_knowledge(animals(), {});
  const int64_t zebra = knowledge.class_index("zebra");
  const at::Tensor place = tensor_of(place_by_attributes(knowledge, array_of(tensor_of(knowledge.association)[zebra])));
  EXPECT_TRUE(place.allclose(tensor_of(knowledge.class_embedding)[zebra], 1e-4, 1e-5));
}

TEST(EmbeddingChange, EqualsTheDifferenceOfTheEmbeddingsOfTheAttributes) {
  const Knowledge knowledge = build_knowledge(animals(), {});
  const int64_t zebra = knowledge.class_index("zebra");
  const at::Tensor change = at::zeros_like(tensor_of(knowledge.association));
  change[zebra] =
      tensor_of(knowledge.association)[1 - std::min<int64_t>(zebra, 1)] - tensor_of(knowledge.association)[zebra];
  const at::Tensor moved =
      tensor_of(knowledge.class_embedding) + tensor_of(embedding_change(knowledge, array_of(change)));
  const at::Tensor place =
      tensor_of(place_by_attributes(knowledge, array_of(tensor_of(knowledge.association)[zebra] + change[zebra])));
  EXPECT_FALSE(change.equal(at::zeros_like(change)));
  EXPECT_TRUE(moved[zebra].allclose(place, 1e-4, 1e-5));
  Knowledge of_words = knowledge;
  of_words.details["embedding"]["kind"] = "word-vectors";
  EXPECT_TRUE(tensor_of(embedding_change(of_words, array_of(change)))
                  .equal(at::zeros_like(tensor_of(knowledge.class_embedding))));
}

TEST(ClassDescription, ByAttributesAmongWordVectorsIsARidgeRegression) {
  // Two classes, one attribute: x = (1, 0), y = (3, 1). Centred x = (.5, -.5), y = (1, -1): w = x'y / (x'x + 10) = 1
  // / 10.5 = 2/21. h(1) = 2 + .5 * 2/21 = 43/21.
  Knowledge knowledge;
  knowledge.classes = {"a", "b"};
  knowledge.attributes = {"x"};
  knowledge.association = array_of(at::tensor({1.0F, 0.0F}).reshape({2, 1}));
  knowledge.class_embedding = array_of(at::tensor({3.0F, 1.0F}).reshape({2, 1}));
  knowledge.attribute_embedding = array_of(at::zeros({1, 1}));
  EXPECT_NEAR(tensor_of(place_by_attributes(knowledge, array_of(at::ones({1})))).item<float>(), 43.0F / 21, 1e-6);
}

TEST(ClassDescription, OfKnowledgeWithoutAttributesStandsInTheMiddle) {
  Knowledge knowledge;
  knowledge.classes = {"a", "b"};
  knowledge.association = array_of(at::zeros({2, 0}));
  knowledge.class_embedding = array_of(at::tensor({3.0F, 1.0F}).reshape({2, 1}));
  knowledge.attribute_embedding = array_of(at::zeros({0, 1}));
  EXPECT_NEAR(tensor_of(place_by_attributes(knowledge, array_of(at::zeros({0})))).item<float>(), 2.0F, 1e-6);
  knowledge.details = {{"embedding", {{"kind", "graph-svd"}}}};
  EXPECT_EQ(tensor_of(place_by_attributes(knowledge, array_of(at::zeros({0})))).item<float>(), 0.0F);
}

class EnrolSynsetTest : public ::testing::Test {
 protected:
  Knowledge build(const Names& unseen) {
    BuildOptions options;
    options.sides = ClassSides{{wnids_.at("bird"), wnids_.at("crane_machine")}, unseen};
    Names classes = options.sides->base;
    classes.insert(classes.end(), unseen.begin(), unseen.end());
    return build_knowledge(wordnet_attributes(wordnet_, classes), options);
  }

  testing::TempDir folder_;
  std::map<std::string, std::string> wnids_ = testing::write_animals(folder_.path());
  WordNet wordnet_{folder_.path()};
};

TEST_F(EnrolSynsetTest, GivesAClassEnrolledLaterTheRowAndEmbeddingItWouldHaveHadBefore) {
  const Knowledge with_dog = build({wnids_.at("dog")});
  const Knowledge without_dog = build({});
  const ClassDescription dog = describe_by_synset(without_dog, wordnet_, "dog");
  ASSERT_EQ(with_dog.attributes, without_dog.attributes);
  const int64_t row = with_dog.class_index(wnids_.at("dog"));
  EXPECT_TRUE(tensor_of(dog.association).equal(tensor_of(with_dog.association)[row]));
  EXPECT_TRUE(tensor_of(dog.embedding).allclose(tensor_of(with_dog.class_embedding)[row], 1e-5, 1e-6));
  EXPECT_EQ(dog.embedding_source, "graph-svd");
  EXPECT_GT(tensor_of(dog.embedding).norm().item<float>(), 0);
  EXPECT_THAT(dog.unknown_attributes, ElementsAre(wnids_.at("collar")));  // no base class has one
  EXPECT_EQ(dog.title, "dog, Canis familiaris");
}

TEST_F(EnrolSynsetTest, OfAWordWithSeveralSensesTheOneThatIsLikeTheClassesIsTaken) {
  const Knowledge animals_only = [&] {
    BuildOptions options;
    options.sides = ClassSides{{wnids_.at("bird"), wnids_.at("dog")}, {}};
    return build_knowledge(wordnet_attributes(wordnet_, options.sides->base), options);
  }();
  EXPECT_TRUE(tensor_of(describe_by_synset(animals_only, wordnet_, "crane").association)
                  .equal(tensor_of(describe_by_synset(animals_only, wordnet_, wnids_.at("crane_bird")).association)));
  const Kinship nobody(wordnet_, {});
  try {
    choose_synset(wordnet_, "crane", nobody);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'crane' has 2 senses"));
    EXPECT_THAT(error.what(), HasSubstr(wnids_.at("crane_machine") + " (crane: the gloss of crane_machine)"));
    EXPECT_THAT(error.what(), HasSubstr(wnids_.at("crane_bird")));
  }
  EXPECT_EQ(choose_synset(wordnet_, "crane.n.02", nobody), wnids_.at("crane_bird"));
  EXPECT_EQ(choose_synset(wordnet_, "unicorn", nobody), std::nullopt);
}

TEST_F(EnrolSynsetTest, WithoutAttributesAmongWordVectorsItsEmbeddingIsZero) {
  Knowledge among_words = build({});
  among_words.details["embedding"]["kind"] = "word-vectors";
  const ClassDescription head = describe_by_synset(among_words, wordnet_, wnids_.at("head"));
  EXPECT_EQ(head.embedding_source, "nothing");
  EXPECT_EQ(tensor_of(head.embedding).abs().max().item<float>(), 0);
  EXPECT_EQ(describe_by_synset(among_words, wordnet_, wnids_.at("dog")).embedding_source, "attributes");
}

TEST_F(EnrolSynsetTest, RefusesWeights) {
  DescribeOptions weighted;
  weighted.weights = {0.5F};
  EXPECT_THROW(describe_by_synset(build({}), wordnet_, wnids_.at("dog"), weighted), UsageError);
}

TEST_F(EnrolSynsetTest, RefusesAnUnknownSynsetAndKnowledgeThatIsNotFromWordNet) {
  EXPECT_THROW(describe_by_synset(build({}), wordnet_, "unicorn"), Error);
  EXPECT_THROW(describe_by_synset(build_knowledge(animals(), {}), wordnet_, "dog"), Error);
}

}  // namespace
}  // namespace protocom
