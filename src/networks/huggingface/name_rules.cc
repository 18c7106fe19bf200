#include "networks/huggingface/detail/name_rules.h"

#include <cctype>
#include <optional>
#include <string>

namespace protocom::huggingface {
namespace {

std::optional<std::string> renamed(const std::string& name, const Rule& rule) {
  const auto is_digit = [&](size_t i) { return i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])); };
  std::vector<std::string> numbers;
  size_t at = 0;
  for (const char* wanted = rule.from; *wanted != 0; ++wanted) {
    if (*wanted == '#') {
      const size_t begin = at;
      while (is_digit(at)) ++at;
      numbers.push_back(name.substr(begin, at - begin));
      if (at == begin) return std::nullopt;
    } else if (at >= name.size() || name[at++] != *wanted) {
      return std::nullopt;
    }
  }
  if (at < name.size() && name[at] != '.') return std::nullopt;
  std::string to;
  size_t used = 0;
  for (const char* c = rule.to; *c != 0; ++c) to += *c == '#' ? numbers.at(used++) : std::string(1, *c);
  return to + name.substr(at);
}

}  // namespace

const Rules& vit_rules() {
  static const Rules kRules = {
      {"cls_token", "embeddings.cls_token"},
      {"pos_embed", "embeddings.position_embeddings"},
      {"reg_token", "embeddings.register_tokens"},
      {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
      {"blocks.#.norm1", "encoder.layer.#.norm1"},
      {"blocks.#.attn.q", "encoder.layer.#.attention.attention.query"},
      {"blocks.#.attn.k", "encoder.layer.#.attention.attention.key"},
      {"blocks.#.attn.v", "encoder.layer.#.attention.attention.value"},
      {"blocks.#.attn.proj", "encoder.layer.#.attention.output.dense"},
      {"blocks.#.ls1.gamma", "encoder.layer.#.layer_scale1.lambda1"},
      {"blocks.#.ls2.gamma", "encoder.layer.#.layer_scale2.lambda1"},
      {"blocks.#.norm2", "encoder.layer.#.norm2"},
      {"blocks.#.mlp", "encoder.layer.#.mlp"},
      {"norm", "layernorm"},
  };
  return kRules;
}

const Rules& clip_rules() {
  static const Rules kRules = {
      {"cls_token", "embeddings.class_embedding"},
      {"pos_embed", "embeddings.position_embedding.weight"},
      {"patch_embed.proj", "embeddings.patch_embedding"},
      {"norm_pre", "pre_layrnorm"},
      {"blocks.#.norm1", "encoder.layers.#.layer_norm1"},
      {"blocks.#.attn.q", "encoder.layers.#.self_attn.q_proj"},
      {"blocks.#.attn.k", "encoder.layers.#.self_attn.k_proj"},
      {"blocks.#.attn.v", "encoder.layers.#.self_attn.v_proj"},
      {"blocks.#.attn.proj", "encoder.layers.#.self_attn.out_proj"},
      {"blocks.#.norm2", "encoder.layers.#.layer_norm2"},
      {"blocks.#.mlp", "encoder.layers.#.mlp"},
      {"norm", "post_layernorm"},
      {"attn_pool.latent", "head.probe"},
      {"attn_pool.in_proj_weight", "head.attention.in_proj_weight"},
      {"attn_pool.in_proj_bias", "head.attention.in_proj_bias"},
      {"attn_pool.proj", "head.attention.out_proj"},
      {"attn_pool.norm", "head.layernorm"},
      {"attn_pool.mlp", "head.mlp"},
  };
  return kRules;
}

const Rules& open_clip_rules() {
  static const Rules kRules = {
      {"class_embedding", "embeddings.class_embedding"},
      {"positional_embedding", "embeddings.position_embedding.weight"},
      {"conv1", "embeddings.patch_embedding"},
      {"ln_pre", "pre_layrnorm"},
      {"transformer.resblocks.#.ln_1", "encoder.layers.#.layer_norm1"},
      {"transformer.resblocks.#.attn.q", "encoder.layers.#.self_attn.q_proj"},
      {"transformer.resblocks.#.attn.k", "encoder.layers.#.self_attn.k_proj"},
      {"transformer.resblocks.#.attn.v", "encoder.layers.#.self_attn.v_proj"},
      {"transformer.resblocks.#.attn.out_proj", "encoder.layers.#.self_attn.out_proj"},
      {"transformer.resblocks.#.ln_2", "encoder.layers.#.layer_norm2"},
      {"transformer.resblocks.#.mlp.c_fc", "encoder.layers.#.mlp.fc1"},
      {"transformer.resblocks.#.mlp.c_proj", "encoder.layers.#.mlp.fc2"},
      {"ln_post", "post_layernorm"},
      {"proj", "visual_projection.weight"},
  };
  return kRules;
}

const Rules& dinov3_rules() {
  static const Rules kRules = {
      {"cls_token", "embeddings.cls_token"},
      {"reg_token", "embeddings.register_tokens"},
      {"pos_embed", "embeddings.position_embeddings"},
      {"patch_embed.proj", "embeddings.patch_embeddings"},
      {"blocks.#.norm1", "layer.#.norm1"},
      {"blocks.#.attn.q", "layer.#.attention.q_proj"},
      {"blocks.#.attn.k", "layer.#.attention.k_proj"},
      {"blocks.#.attn.v", "layer.#.attention.v_proj"},
      {"blocks.#.attn.norm", "layer.#.attention.norm"},
      {"blocks.#.attn.proj", "layer.#.attention.o_proj"},
      {"blocks.#.gamma_1", "layer.#.layer_scale1.lambda1"},
      {"blocks.#.gamma_2", "layer.#.layer_scale2.lambda1"},
      {"blocks.#.norm2", "layer.#.norm2"},
      {"blocks.#.mlp.fc1", "layer.#.mlp.up_proj"},
      {"blocks.#.mlp.fc1_g", "layer.#.mlp.gate_proj"},
      {"blocks.#.mlp.fc1_x", "layer.#.mlp.up_proj"},
      {"blocks.#.mlp.norm", "layer.#.mlp.norm"},
      {"blocks.#.mlp.fc2", "layer.#.mlp.down_proj"},
      {"fc_norm", "norm"},
  };
  return kRules;
}

const Rules& convnext_rules() {
  static const Rules kRules = {
      {"stem.0", "embeddings.patch_embeddings"},
      {"stem.1", "embeddings.layernorm"},
      {"stages.#.downsample", "encoder.stages.#.downsampling_layer"},
      {"stages.#.blocks.#.conv_dw", "encoder.stages.#.layers.#.dwconv"},
      {"stages.#.blocks.#.norm", "encoder.stages.#.layers.#.layernorm"},
      {"stages.#.blocks.#.mlp.fc1", "encoder.stages.#.layers.#.pwconv1"},
      {"stages.#.blocks.#.mlp.fc2", "encoder.stages.#.layers.#.pwconv2"},
      {"stages.#.blocks.#.mlp.grn", "encoder.stages.#.layers.#.grn"},
      {"stages.#.blocks.#.gamma", "encoder.stages.#.layers.#.layer_scale_parameter"},
      {"head.norm", "layernorm"},
  };
  return kRules;
}

const Rules& beit_rules() {
  static const Rules kRules = {
      {"cls_token", "embeddings.cls_token"},
      {"dist_token", "embeddings.distillation_token"},
      {"pos_embed", "embeddings.position_embeddings"},
      {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
      {"blocks.#.norm1", "encoder.layer.#.layernorm_before"},
      {"blocks.#.attn.relative_position_bias_table",
       "encoder.layer.#.attention.attention.relative_position_bias.relative_position_bias_table"},
      {"blocks.#.attn.q", "encoder.layer.#.attention.attention.query"},
      {"blocks.#.attn.k", "encoder.layer.#.attention.attention.key"},
      {"blocks.#.attn.v", "encoder.layer.#.attention.attention.value"},
      {"blocks.#.attn.proj", "encoder.layer.#.attention.output.dense"},
      {"blocks.#.gamma_1", "encoder.layer.#.lambda_1"},
      {"blocks.#.gamma_2", "encoder.layer.#.lambda_2"},
      {"blocks.#.norm2", "encoder.layer.#.layernorm_after"},
      {"blocks.#.mlp.fc1", "encoder.layer.#.intermediate.dense"},
      {"blocks.#.mlp.fc2", "encoder.layer.#.output.dense"},
      {"fc_norm", "pooler.layernorm"},
      {"norm", "layernorm"},
  };
  return kRules;
}

const Rules& swin_rules() {
  static const Rules kRules = {
      {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
      {"patch_embed.norm", "embeddings.norm"},
      {"layers.#.downsample", "encoder.layers.#.downsample"},
      {"layers.#.blocks.#.norm1", "encoder.layers.#.blocks.#.layernorm_before"},
      {"layers.#.blocks.#.attn.relative_position_bias_table",
       "encoder.layers.#.blocks.#.attention.self.relative_position_bias_table"},
      {"layers.#.blocks.#.attn.logit_scale", "encoder.layers.#.blocks.#.attention.self.logit_scale"},
      {"layers.#.blocks.#.attn.cpb_mlp", "encoder.layers.#.blocks.#.attention.self.continuous_position_bias_mlp"},
      {"layers.#.blocks.#.attn.q", "encoder.layers.#.blocks.#.attention.self.query"},
      {"layers.#.blocks.#.attn.k", "encoder.layers.#.blocks.#.attention.self.key"},
      {"layers.#.blocks.#.attn.v", "encoder.layers.#.blocks.#.attention.self.value"},
      {"layers.#.blocks.#.attn.proj", "encoder.layers.#.blocks.#.attention.output.dense"},
      {"layers.#.blocks.#.norm2", "encoder.layers.#.blocks.#.layernorm_after"},
      {"layers.#.blocks.#.mlp.fc1", "encoder.layers.#.blocks.#.intermediate.dense"},
      {"layers.#.blocks.#.mlp.fc2", "encoder.layers.#.blocks.#.output.dense"},
      {"norm", "layernorm"},
  };
  return kRules;
}

const Rules& mobilevit_rules() {
  static const Rules kRules = {
      {"stem", "conv_stem"},
      {"stages.#.#.conv1_1x1", "encoder.layer.#.layer.#.expand_1x1"},
      {"stages.#.#.conv2_kxk", "encoder.layer.#.layer.#.conv_3x3"},
      {"stages.#.#.conv3_1x1", "encoder.layer.#.layer.#.reduce_1x1"},
      {"stages.#.1.conv_kxk", "encoder.layer.#.conv_kxk"},
      {"stages.#.1.conv_1x1", "encoder.layer.#.conv_1x1.convolution"},
      {"stages.#.1.conv_proj", "encoder.layer.#.conv_projection"},
      {"stages.#.1.conv_fusion", "encoder.layer.#.fusion"},
      {"stages.#.1.norm", "encoder.layer.#.layernorm"},
      {"stages.#.1.transformer.#.norm1", "encoder.layer.#.transformer.layer.#.layernorm_before"},
      {"stages.#.1.transformer.#.attn.q", "encoder.layer.#.transformer.layer.#.attention.attention.query"},
      {"stages.#.1.transformer.#.attn.k", "encoder.layer.#.transformer.layer.#.attention.attention.key"},
      {"stages.#.1.transformer.#.attn.v", "encoder.layer.#.transformer.layer.#.attention.attention.value"},
      {"stages.#.1.transformer.#.attn.proj", "encoder.layer.#.transformer.layer.#.attention.output.dense"},
      {"stages.#.1.transformer.#.norm2", "encoder.layer.#.transformer.layer.#.layernorm_after"},
      {"stages.#.1.transformer.#.mlp.fc1", "encoder.layer.#.transformer.layer.#.intermediate.dense"},
      {"stages.#.1.transformer.#.mlp.fc2", "encoder.layer.#.transformer.layer.#.output.dense"},
      {"final_conv", "conv_1x1_exp"},
  };
  return kRules;
}

const Rules& hiera_rules() {
  static const Rules kRules = {
      {"patch_embed.proj", "embeddings.patch_embeddings.projection"},
      {"pos_embed", "embeddings.position_embeddings"},
      {"stages.#.layers.#.norm1", "encoder.stages.#.layers.#.layernorm_before"},
      {"stages.#.layers.#.norm2", "encoder.stages.#.layers.#.layernorm_after"},
      {"stages", "encoder.stages"},
      {"head.norm", "pooler.layernorm"},
  };
  return kRules;
}

const Rules& dinov3_convnext_rules() {
  static const Rules kRules = {
      {"stages.0.downsample_layers.0", "embeddings.patch_embeddings"},
      {"stages.0.downsample_layers.1", "embeddings.layernorm"},
      {"stages.#.downsample_layers", "encoder.stages.#.downsampling_layer"},
      {"stages.#.layers.#.depthwise_conv", "encoder.stages.#.layers.#.dwconv"},
      {"stages.#.layers.#.layer_norm", "encoder.stages.#.layers.#.layernorm"},
      {"stages.#.layers.#.pointwise_conv1", "encoder.stages.#.layers.#.pwconv1"},
      {"stages.#.layers.#.pointwise_conv2", "encoder.stages.#.layers.#.pwconv2"},
      {"stages.#.layers.#.gamma", "encoder.stages.#.layers.#.layer_scale_parameter"},
      {"layer_norm", "layernorm"},
  };
  return kRules;
}

Tensors renamed(const Tensors& tensors, const Rules& rules) {
  Tensors all;
  for (const auto& [name, tensor] : tensors) {
    std::optional<std::string> to;
    for (auto rule = rules.begin(); rule != rules.end() && !to; ++rule) to = renamed(name, *rule);
    all[to.value_or(name)] = tensor;
  }
  return all;
}

}  // namespace protocom::huggingface
