#include "fewshot/paper/completer.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/parallel.h"
#include "fewshot/row_kernels.h"
#include "fewshot/toolbox/detail/dense_layer.h"

namespace protocom {
namespace {

constexpr int64_t kLayerRows = 40;  // rows whose layer outputs fit in the first-level caches

/// Returns the layer's outputs [rows, width] of rows [rows, in]. A BLAS would sum in an order that depends on its
/// threads.
std::vector<float> outputs_of(const DenseLayer& layer, const Eigen::Ref<const FloatMatrix>& rows) {
  const int64_t stride = rows.outerStride();
  std::vector<float> out(static_cast<size_t>(rows.rows() * layer.width()));
  parallel_for(0, rows.rows(), kLayerRows, [&](int64_t begin, int64_t end) {
    layer.apply(rows.data() + begin * stride, stride, end - begin, out.data() + begin * layer.width());
  });
  return out;
}

void clamp_at_zero(std::vector<float>& values) {
  for (float& value : values) value = value > 0 ? value : 0;
}

/// Returns a layer of the model's network.
DenseLayer layer_of(const CompletionModel& model, const std::string& name) {
  return DenseLayer(matrix_of<float>(model.weight(name + ".weight")), model.weight(name + ".bias"));
}

/// Returns the part of the attention's hidden layer for `count` of its inputs from `first` on: [hidden, count].
auto attention_block(const CompletionModel& model, int64_t first, int64_t count) {
  return matrix_of<float>(model.weight("aggregator.0.weight")).middleCols(first, count);
}

std::string described(std::string_view type, const Shape& shape) {
  std::string sizes;
  for (const int64_t size : shape)
    sizes += fmt::format("{}{}", sizes.empty() ? "" : ", ", size < 0 ? "any" : std::to_string(size));
  return fmt::format("{} [{}]", type, sizes);
}

/// Throws Error with the expected and the actual shape unless the array is float32 of this shape; -1: any size.
void expect_floats(const Array& array, std::string_view what, const Shape& shape) {
  constexpr std::string_view kSingle = "float32";
  const bool is_single = array.defined() && array.type() == NumberType::kFloat32;
  const auto alike = [](int64_t found, int64_t expected) { return expected < 0 || found == expected; };
  if (is_single && std::equal(array.shape().begin(), array.shape().end(), shape.begin(), shape.end(), alike)) return;
  fail("{}: expected {}, found {}", what, described(kSingle, shape),
       array.defined() ? described(is_single ? kSingle : to_string(array.type()), array.shape()) : "nothing");
}

void check_fits(const CompletionModel& model, const KnowledgeTable& classes) {
  const auto attributes = static_cast<int64_t>(model.attributes.size());
  expect_floats(model.attribute_mean, "attribute means of the model", {attributes, model.sizes.feature_dim});
  expect_floats(model.attribute_embedding, "attribute embeddings of the model",
                {attributes, model.sizes.embedding_dim});
  for (const auto& [name, shape] : weight_shapes(model.sizes)) expect_floats(model.weight(name), name, shape);
  expect_floats(classes.association, "association of the classes", {-1, attributes});
  expect_floats(classes.class_embedding, "embeddings of the classes",
                {classes.association.size(0), model.sizes.embedding_dim});
}

/// The scratch memory of one thread.
struct Scratch {
  std::vector<float> share;    // [rows, hidden]
  std::vector<float> code;     // [rows, code]
  std::vector<float> hidden;   // [rows, decoder hidden]
  std::vector<float> decoded;  // [rows, d]
};

}  // namespace

struct Completer::Impl {
  Impl(const CompletionModel& model, const KnowledgeTable& classes);
  void list_pairs(const Eigen::Ref<const FloatMatrix>& association);
  void complete(const float* prototypes, const int64_t* classes, int64_t rows, Scratch& scratch, float* out) const;
  void add_attributes(int64_t label, float* share, float* code) const;

  int64_t dim;
  DenseLayer share;  // contribution of prototypes to the attention's hidden layer
  DenseLayer encoder;
  DenseLayer decoder_hidden;
  DenseLayer decoder_out;
  std::vector<float> attribute_code;   // z'_a [a, code]
  std::vector<float> class_share;      // [c, hidden], with the hidden layer's bias
  std::vector<float> attribute_share;  // [a, hidden]
  std::vector<float> output;           // [hidden]
  float output_bias;
  std::vector<int64_t> offset;  // [c + 1], first pair of each class
  std::vector<int64_t> attribute;
  std::vector<float> weight;
};

Completer::Impl::Impl(const CompletionModel& model, const KnowledgeTable& classes)
    : dim(model.sizes.feature_dim),
      share(attention_block(model, 0, dim)),
      encoder(layer_of(model, "encoder")),
      decoder_hidden(layer_of(model, "decoder.0")),
      decoder_out(layer_of(model, "decoder.2")),
      attribute_code(outputs_of(encoder, matrix_of<float>(model.attribute_mean))),
      output_bias(*model.weight("aggregator.2.bias").data<float>()) {
  clamp_at_zero(attribute_code);
  const int64_t words = model.sizes.embedding_dim;
  const DenseLayer of_classes(attention_block(model, dim, words), model.weight("aggregator.0.bias"));
  const DenseLayer of_attributes(attention_block(model, dim + words, words));
  class_share = outputs_of(of_classes, unit_rows(matrix_of<float>(classes.class_embedding)));
  attribute_share = outputs_of(of_attributes, unit_rows(matrix_of<float>(model.attribute_embedding)));
  const Array& weights = model.weight("aggregator.2.weight");  // [1, hidden]
  output.assign(weights.data<float>(), weights.data<float>() + weights.numel());
  output.resize(static_cast<size_t>(share.width()));
  list_pairs(matrix_of<float>(classes.association));
}

void Completer::Impl::list_pairs(const Eigen::Ref<const FloatMatrix>& association) {
  offset.push_back(0);
  for (int64_t k = 0; k < association.rows(); ++k) {
    for (int64_t a = 0; a < association.cols(); ++a) {
      if (association(k, a) == 0) continue;
      attribute.push_back(a);
      weight.push_back(association(k, a));
    }
    offset.push_back(static_cast<int64_t>(attribute.size()));
  }
}

void Completer::Impl::add_attributes(int64_t label, float* prototype_share, float* code) const {
  const int64_t hidden = share.width();
  add_scaled_row(1, class_share.data() + label * hidden, hidden, prototype_share);
  for (int64_t pair = offset[static_cast<size_t>(label)]; pair < offset[static_cast<size_t>(label) + 1]; ++pair) {
    const int64_t a = attribute[static_cast<size_t>(pair)];
    const float score = relu_dot(prototype_share, attribute_share.data() + a * hidden, output.data(), hidden);
    const float alpha = weight[static_cast<size_t>(pair)] * (score + output_bias);
    add_scaled_row(alpha, attribute_code.data() + a * encoder.width(), encoder.width(), code);
  }
}

void Completer::Impl::complete(const float* prototypes, const int64_t* classes, int64_t rows, Scratch& scratch,
                               float* out) const {
  const auto resized = [rows](std::vector<float>& values, const DenseLayer& layer) {
    values.resize(static_cast<size_t>(rows * layer.width()));
    return values.data();
  };
  share.apply(prototypes, dim, rows, resized(scratch.share, share));
  encoder.apply(prototypes, dim, rows, resized(scratch.code, encoder));
  clamp_at_zero(scratch.code);
  for (int64_t m = 0; m < rows; ++m) {
    add_attributes(classes[m], scratch.share.data() + m * share.width(), scratch.code.data() + m * encoder.width());
  }
  decoder_hidden.apply(scratch.code.data(), encoder.width(), rows, resized(scratch.hidden, decoder_hidden));
  clamp_at_zero(scratch.hidden);
  decoder_out.apply(scratch.hidden.data(), decoder_hidden.width(), rows, resized(scratch.decoded, decoder_out));
  for (int64_t m = 0; m < rows; ++m) std::copy_n(scratch.decoded.data() + m * decoder_out.width(), dim, out + m * dim);
}

Completer::Completer(const CompletionModel& model, const KnowledgeTable& classes) {
  check_fits(model, classes);
  impl_ = std::make_unique<Impl>(model, classes);
}

Completer::~Completer() = default;

FloatMatrix Completer::complete(const FloatMatrix& prototypes, const std::vector<int64_t>& class_index) const {
  const int64_t dim = impl_->dim, count = prototypes.rows();
  const auto known = static_cast<int64_t>(impl_->offset.size()) - 1;
  if (prototypes.cols() != dim)
    fail("prototypes to complete: expected {} dimensions, found {}", dim, prototypes.cols());
  if (static_cast<int64_t>(class_index.size()) != count)
    fail("classes of the prototypes: expected {}, found {}", count, class_index.size());
  for (const int64_t k : class_index) {
    if (k < 0 || k >= known) fail("classes of the prototypes: expected values in [0, {}), found {}", known, k);
  }
  FloatMatrix completed(count, dim);
  const float* rows = prototypes.data();
  const int64_t* label = class_index.data();
  float* out = completed.data();
  const int64_t blocks = (count + kLayerRows - 1) / kLayerRows;
  parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    for (int64_t first = begin * kLayerRows; first < std::min(end * kLayerRows, count); first += kLayerRows) {
      const int64_t some = std::min(kLayerRows, count - first);
      impl_->complete(rows + first * dim, label + first, some, scratch, out + first * dim);
    }
  });
  return completed;
}

}  // namespace protocom
