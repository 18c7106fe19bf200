#include "fewshot/trained/fslkt.h"

#include <ATen/ATen.h>

#include <cmath>

#include "base/error.h"
#include "fewshot/align_knowledge.h"
#include "heads/cosine_classifier.h"
#include "heads/detail/class_semantics.h"
#include "heads/detail/trained_head.h"
#include "heads/detail/trained_makers.h"
#include "heads/detail/training_tasks.h"
#include "heads/detail/two_layers.h"
#include "heads/detail/unit_space.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom::methods {
namespace {

constexpr double kSlope = 0.2;
constexpr int64_t kHeldOutTasks = 200;

/// Classes and attributes as nodes; an edge joins a class to each of its attributes.
struct Graph {
  at::Tensor inputs;     // X [c + a, e], embeddings with values of size 1
  at::Tensor adjacency;  // A [c + a, c + a], rows sum to 1
  at::Tensor known;      // [c, 1], 1 if anything is known of a class, else 0
};

/// Returns the rows of A = D^-1 [[I, R], [R', I]].
at::Tensor row_normalised_adjacency(const at::Tensor& association) {
  const int64_t c = association.size(0);
  const int64_t a = association.size(1);
  const at::Tensor edges =
      at::cat({at::cat({at::eye(c), association}, 1), at::cat({association.t(), at::eye(a)}, 1)}, 0);
  return edges / edges.sum(1, true);
}

Graph graph_of(const KnowledgeTable& knowledge, const std::vector<std::string>& class_names,
               const std::vector<std::string>& attributes) {
  const KnowledgeTable classes = align_knowledge(knowledge, class_names, attributes);
  const at::Tensor association = tensor_of(classes.association);
  std::vector<at::Tensor> embeddings = {tensor_of(classes.class_embedding)};
  for (const std::string& name : attributes) {
    const int64_t row = knowledge.attribute_index(name);
    embeddings.push_back(row < 0 ? at::zeros({1, knowledge.embedding_dim()})
                                 : tensor_of(knowledge.attribute_embedding.rows(row, row + 1)));
  }
  const at::Tensor x = unit_vectors(at::cat(embeddings)) * std::sqrt(static_cast<double>(knowledge.embedding_dim()));
  const at::Tensor known = is_known(at::cat({embeddings.front(), association}, 1));
  return {x, row_normalised_adjacency(association), known.to(at::kFloat)};
}

/// Returns the weights of all classes by a graph convolution of two layers, A lrelu(A X W + b) W' + b', at unit length
/// [c, d]; zeros for a class without a description.
at::Tensor predicted_weights(const TwoLayers& layers, const Graph& graph, double dropout = 0) {
  at::Tensor hidden = layers.hidden(at::mm(graph.adjacency, graph.inputs));
  if (dropout > 0) hidden = at::dropout(hidden, dropout, true);
  const at::Tensor all = layers.output(at::mm(graph.adjacency, hidden));
  return unit_vectors(all.slice(0, 0, graph.known.size(0))) * graph.known;
}

/// Returns mean + (knowledge / K) prediction, [b, n, d].
at::Tensor transferred(const EpisodeBatch& batch, const at::Tensor& predicted, double knowledge) {
  return mean_of_supports(batch) + knowledge / count_of_supports(batch).unsqueeze(-1) * predicted;
}

/// The learned parameters.
struct Model {
  std::shared_ptr<const UnitSpace> space;
  TwoLayers layers;

  void fields(StateFields& fields) {
    fields.space(space);
    layers.fields(fields, "graph.", {-1, -1, space->dim()}, kSlope);
  }
};

class Fslkt : public TrainedHead<Model, FslktOptions> {
 public:
  using TrainedHead::TrainedHead;

  [[nodiscard]] BatchScorer scorer(const MethodContext& context) const override;

 private:
  HeadTraining begin(const FitInputs& inputs, Rng& rng) override;
};

BatchScorer Fslkt::scorer(const MethodContext& context) const {
  const TwoLayers& layers = model().layers;
  if (context.knowledge->embedding_dim() != layers.in())
    fail("'fslkt' was fitted on embeddings of {} values, this knowledge has {}: give the same kind of knowledge",
         layers.in(), context.knowledge->embedding_dim());
  const Graph graph = graph_of(*context.knowledge, *context.class_names, attributes());
  const auto answer = [space = model().space, weights = predicted_weights(layers, graph),  // [c, d]
                       options = options()](const EpisodeBatch& batch) -> BatchScores {
    const at::Tensor prototypes = transferred(batch, rows_at(weights, classes_of(batch)), options.knowledge);
    return {options.scale * protocom::cosine_similarity(batch.query, prototypes), space->back(prototypes)};
  };
  return {answer, model().space};
}

HeadTraining Fslkt::begin(const FitInputs& inputs, Rng& rng) {
  const KnowledgeTable& knowledge = knowledge_of(inputs, spec().name);
  const Graph graph = graph_of(knowledge, *inputs.class_names, attributes());
  const auto space = std::make_shared<UnitSpace>(options().space, inputs.base.features);
  model() = {space, TwoLayers::untrained({knowledge.embedding_dim(), options().hidden, space->dim()}, kSlope)};
  const TrainingClasses classes = training_classes(inputs, space.get(), spec().name, 2);
  HeadTraining training{model().layers.parameters()};
  training.loss = [this, graph, weights = unit_vectors(classes.train.centres()),
                   which = at::tensor(classes.train.labels, at::kLong)] {
    const at::Tensor predicted = predicted_weights(model().layers, graph, options().dropout).index_select(0, which);
    return (predicted - weights).square().sum(1).mean();
  };
  if (classes.held_out.classes() == 0) return training;
  training.held_out = [this, graph, unseen = draw_training_tasks(classes.held_out, {kHeldOutTasks, 5, 1, 15}, rng)] {
    const at::Tensor predicted = rows_at(predicted_weights(model().layers, graph), unseen.batch.classes);
    const at::Tensor novel = transferred(unseen.batch, predicted, options().knowledge);
    return task_accuracy(protocom::cosine_similarity(unseen.batch.query, novel), unseen.labels);
  };
  return training;
}

}  // namespace
}  // namespace protocom::methods

std::unique_ptr<protocom::Method> protocom::heads::make_fslkt(const FslktOptions& options) {
  return std::make_unique<methods::Fslkt>(options);
}
