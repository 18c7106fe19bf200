#include "fewshot/paper/completer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "fewshot/toolbox/detail/dense_layer.h"
#include "fewshot/toolbox/detail/expect_tensor.h"
#include "fewshot/toolbox/detail/row_kernels.h"
#include "tensors/tensors.h"
#include "tensors/unit_vectors.h"

namespace protocom {
namespace {

constexpr int64_t kLayerRows = 40;  // rows whose layers' outputs stay in the first caches

/// The layer's outputs [rows, width] of rows [rows, in]. A BLAS would sum in an order that depends on its threads.
std::vector<float> outputs_of(const DenseLayer& layer, const at::Tensor& rows) {
  const at::Tensor in = rows.detach().to(at::kFloat).contiguous();
  std::vector<float> out(static_cast<size_t>(in.size(0) * layer.width()));
  parallel_for(0, in.size(0), kLayerRows, [&](int64_t begin, int64_t end) {
    layer.apply(in.data_ptr<float>() + begin * in.size(1), in.size(1), end - begin, out.data() + begin * layer.width());
  });
  return out;
}

void clamp_at_zero(std::vector<float>& values) {
  for (float& value : values) value = value > 0 ? value : 0;
}

/// The attention block of aggregator.0 that sees prototypes, class embeddings or attribute embeddings.
std::vector<at::Tensor> attention_blocks(const ProtoComNet& network) {
  const auto& sizes = network.options();
  return network.parameter("aggregator.0.weight")
      .split_with_sizes({sizes.feature_dim, sizes.embedding_dim, sizes.embedding_dim}, 1);
}

void check_fits(const CompletionModel& model, const KnowledgeTable& classes) {
  const ProtoComNetOptions& sizes = model.network.options();
  const auto attributes = static_cast<int64_t>(model.attributes.size());
  expect_tensor(model.attribute_mean, {"attribute means of the model", at::kFloat, {attributes, sizes.feature_dim}});
  expect_tensor(model.attribute_embedding,
                {"attribute embeddings of the model", at::kFloat, {attributes, sizes.embedding_dim}});
  for (const auto& [name, parameter] : model.network.state_dict())
    expect_tensor(parameter, {name, at::kFloat, parameter.sizes().vec()});
  expect_tensor(tensor_of(classes.association), {"association of the classes", at::kFloat, {-1, attributes}});
  expect_tensor(tensor_of(classes.class_embedding),
                {"embeddings of the classes", at::kFloat, {classes.association.size(0), sizes.embedding_dim}});
}

/// The memory of one thread.
struct Scratch {
  std::vector<float> share;    // [rows, hidden]
  std::vector<float> code;     // [rows, code]
  std::vector<float> hidden;   // [rows, decoder hidden]
  std::vector<float> decoded;  // [rows, d]
};

}  // namespace

struct Completer::Impl {
  Impl(const CompletionModel& model, const KnowledgeTable& classes);
  void list_pairs(const at::Tensor& association);
  void complete(const float* prototypes, const int64_t* classes, int64_t rows, Scratch& scratch, float* out) const;
  void add_attributes(int64_t label, float* share, float* code) const;

  int64_t dim;
  DenseLayer share;  // of prototypes in the attention's hidden layer
  DenseLayer encoder;
  DenseLayer decoder_hidden;
  DenseLayer decoder_out;
  std::vector<float> attribute_code;   // z'_a [a, code]
  std::vector<float> class_share;      // [c, hidden], with the hidden layer's bias
  std::vector<float> attribute_share;  // [a, hidden]
  std::vector<float> output;           // [hidden]
  float output_bias;
  std::vector<int64_t> offset;  // [c + 1], the pairs of each class
  std::vector<int64_t> attribute;
  std::vector<float> weight;
};

Completer::Impl::Impl(const CompletionModel& model, const KnowledgeTable& classes)
    : dim(model.network.options().feature_dim),
      share(attention_blocks(model.network)[0], {}),
      encoder(model.network.parameter("encoder.weight"), model.network.parameter("encoder.bias")),
      decoder_hidden(model.network.parameter("decoder.0.weight"), model.network.parameter("decoder.0.bias")),
      decoder_out(model.network.parameter("decoder.2.weight"), model.network.parameter("decoder.2.bias")),
      output_bias(model.network.parameter("aggregator.2.bias").item<float>()) {
  const auto blocks = attention_blocks(model.network);
  attribute_code = outputs_of(encoder, model.attribute_mean);
  clamp_at_zero(attribute_code);
  const DenseLayer of_classes(blocks[1], model.network.parameter("aggregator.0.bias"));
  class_share = outputs_of(of_classes, unit_vectors(tensor_of(classes.class_embedding)));
  attribute_share = outputs_of(DenseLayer(blocks[2], {}), unit_vectors(model.attribute_embedding));
  const at::Tensor weights = model.network.parameter("aggregator.2.weight").contiguous();  // [1, hidden]
  output.assign(weights.data_ptr<float>(), weights.data_ptr<float>() + weights.size(1));
  output.resize(static_cast<size_t>(share.width()));
  list_pairs(tensor_of(classes.association));
}

void Completer::Impl::list_pairs(const at::Tensor& association) {
  const at::Tensor plain = association.contiguous();
  const auto r = plain.accessor<float, 2>();
  offset.push_back(0);
  for (int64_t k = 0; k < r.size(0); ++k) {
    for (int64_t a = 0; a < r.size(1); ++a) {
      if (r[k][a] == 0) continue;
      attribute.push_back(a);
      weight.push_back(r[k][a]);
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
  const at::NoGradGuard no_grad;
  check_fits(model, classes);
  impl_ = std::make_unique<Impl>(model, classes);
}

Completer::~Completer() = default;

at::Tensor Completer::complete(const at::Tensor& prototypes, const at::Tensor& class_index) const {
  const at::NoGradGuard no_grad;
  expect_tensor(prototypes, {"prototypes to complete", at::kFloat, {-1, impl_->dim}});
  expect_tensor(class_index, {"classes of the prototypes", at::kLong, {prototypes.size(0)}});
  expect_below(class_index, static_cast<int64_t>(impl_->offset.size()) - 1, "classes of the prototypes");
  const at::Tensor in = prototypes.detach().contiguous();
  const at::Tensor classes = class_index.contiguous();
  at::Tensor completed = at::empty(in.sizes(), in.options());
  const float* rows = in.data_ptr<float>();
  const int64_t* label = classes.data_ptr<int64_t>();
  float* out = completed.data_ptr<float>();
  const int64_t blocks = (in.size(0) + kLayerRows - 1) / kLayerRows;
  parallel_for(0, blocks, 1, [&](int64_t begin, int64_t end) {
    Scratch scratch;
    for (int64_t first = begin * kLayerRows; first < std::min(end * kLayerRows, in.size(0)); first += kLayerRows) {
      const int64_t count = std::min(kLayerRows, in.size(0) - first);
      impl_->complete(rows + first * impl_->dim, label + first, count, scratch, out + first * impl_->dim);
    }
  });
  return completed;
}

}  // namespace protocom
