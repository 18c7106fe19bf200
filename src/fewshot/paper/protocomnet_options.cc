#include "fewshot/paper/protocomnet_options.h"

namespace protocom {

std::vector<std::pair<std::string, Shape>> weight_shapes(const ProtoComNetOptions& sizes) {
  std::vector<std::pair<std::string, Shape>> shapes;
  const auto add_linear = [&shapes](const std::string& name, int64_t in, int64_t out) {
    shapes.emplace_back(name + ".weight", Shape{out, in});
    shapes.emplace_back(name + ".bias", Shape{out});
  };
  add_linear("encoder", sizes.feature_dim, sizes.code_dim);
  add_linear("aggregator.0", sizes.feature_dim + 2 * sizes.embedding_dim, sizes.attention_hidden);
  add_linear("aggregator.2", sizes.attention_hidden, 1);
  add_linear("decoder.0", sizes.code_dim, sizes.decoder_hidden);
  add_linear("decoder.2", sizes.decoder_hidden, sizes.feature_dim);
  return shapes;
}

}  // namespace protocom
