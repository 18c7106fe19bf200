#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "networks/onnx/detail/blocks.h"
#include "networks/onnx/detail/convolution.h"

#ifdef PROTOCOM_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace protocom::onnx {

#ifdef PROTOCOM_ONEDNN
namespace {

using dnnl::memory;

const dnnl::engine& processor() {
  static const dnnl::engine kEngine(dnnl::engine::kind::cpu, 0);
  return kEngine;
}

memory::desc floats(const Sizes& sizes, memory::format_tag order) { return {sizes, memory::data_type::f32, order}; }

memory::format_tag blocked_order() {
  return block_width() == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
}

/// Returns the index-th part with that size of a tensor.
memory seen(const memory::desc& desc, const at::Tensor& tensor, int64_t index = 0) {
  return {desc, processor(), static_cast<char*>(tensor.data_ptr()) + index * static_cast<int64_t>(desc.get_size())};
}

at::Tensor bytes(const memory::desc& desc) { return at::empty({static_cast<int64_t>(desc.get_size())}, at::kByte); }

/// Returns the operations on the results: adding another tensor, then the activation.
dnnl::primitive_attr after(const Activation& activation, bool is_sum) {
  dnnl::post_ops all;
  if (is_sum) all.append_sum();
  const auto least = static_cast<float>(activation.least);
  const auto most = static_cast<float>(activation.most);
  if (activation.op == "Relu") all.append_eltwise(1, dnnl::algorithm::eltwise_relu, 0, 0);
  if (activation.op == "Clip") all.append_eltwise(1, dnnl::algorithm::eltwise_clip, least, most);
  if (activation.op == "HardSwish") all.append_eltwise(1, dnnl::algorithm::eltwise_hardswish, 0, 0);
  if (activation.op == kSilu) all.append_eltwise(1, dnnl::algorithm::eltwise_swish, 1, 0);
  dnnl::primitive_attr attr;
  attr.set_post_ops(all);
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);  // oneDNN's own belongs to the creating thread
  return attr;
}

/// One convolution, with weights in the required layout. Several threads may run it concurrently.
class BlockedConvolution {
 public:
  BlockedConvolution(const Convolution& convolution, bool is_sum)
      : shape_(convolution), attr_(after(convolution.activation, is_sum)), output_(convolution.output()) {
    const at::Tensor weight = std::exchange(shape_.weight, {}).to(at::kFloat).contiguous();
    bias_ = convolution.bias.defined() ? convolution.bias.to(at::kFloat).contiguous() : at::zeros({weight.size(0)});
    if (bias_.sizes() != at::IntArrayRef({weight.size(0)}))
      fail("its bias is [{}], expected [{}]", fmt::join(bias_.sizes(), ", "), weight.size(0));
    Sizes sizes = weight.sizes().vec();
    if (shape_.groups > 1) {
      sizes[0] /= shape_.groups;
      sizes.insert(sizes.begin(), shape_.groups);
    }
    pick_algorithm(sizes);
    pack(weight, floats(sizes, shape_.groups > 1 ? memory::format_tag::goihw : memory::format_tag::oihw));
    static_cast<void>(prepared(1));
  }

  at::Tensor run(const at::Tensor& images, at::Tensor added) const {
    const bool plain = takes_images(shape_);
    const at::Tensor maps = images.contiguous(plain ? at::MemoryFormat::Contiguous : at::MemoryFormat::ChannelsLast);
    const int64_t blocks = plain ? 1 : count_blocks(shape_.input[1]);
    const int64_t count = maps.size(0) / blocks;
    check(maps, {count * blocks, plain ? shape_.input[1] : block_width(), shape_.input[2], shape_.input[3]});
    const Sizes sizes = {count * count_blocks(output_[1]), block_width(), output_[2], output_[3]};
    const at::Tensor result = added.defined() ? into(std::move(added), sizes)
                                              : at::empty(sizes, maps.options(), at::MemoryFormat::ChannelsLast);
    if (count == 0) return result;
    const int64_t together = algorithm_ == dnnl::algorithm::convolution_winograd ? 1 : count;
    const auto made = prepared(together);
    const at::Tensor scratch = bytes(made->scratchpad);
    static thread_local dnnl::stream stream(processor());
    for (int64_t i = 0; i < count / together; ++i) {
      made->primitive.execute(stream, {{DNNL_ARG_SRC, seen(made->source, maps, i)},
                                       {DNNL_ARG_WEIGHTS, seen(weights_, packed_)},
                                       {DNNL_ARG_BIAS, seen(floats({output_[1]}, memory::format_tag::x), bias_)},
                                       {DNNL_ARG_DST, seen(made->result, result, i)},
                                       {DNNL_ARG_SCRATCHPAD, seen(made->scratchpad, scratch)}});
    }
    stream.wait();
    return result;
  }

 private:
  /// Prepared for a number of images and threads.
  struct Prepared {
    int64_t images;
    int threads;
    dnnl::convolution_forward primitive;
    memory::desc source, result, scratchpad;
  };

  /// Checks the sizes: oneDNN itself accesses memory unchecked.
  static void check(const at::Tensor& maps, const Sizes& sizes) {
    if (maps.sizes() != at::IntArrayRef(sizes) || maps.scalar_type() != at::kFloat || !maps.device().is_cpu())
      fail("the input is [{}] of {}, expected float32 [{}]", fmt::join(maps.sizes(), ", "), maps.toString(),
           fmt::join(sizes, ", "));
  }

  /// Returns the blocks to add, in memory that may be overwritten.
  static at::Tensor into(at::Tensor added, const Sizes& sizes) {
    check(added, sizes);
    if (!added.is_contiguous(at::MemoryFormat::ChannelsLast)) return added.contiguous(at::MemoryFormat::ChannelsLast);
    return is_own(added) ? std::move(added) : added.clone();
  }

  void pack(const at::Tensor& weight, const memory::desc& order) {
    packed_ = bytes(weights_);
    memory from = seen(order, weight);
    memory to = seen(weights_, packed_);
    dnnl::stream stream(processor());
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
  }

  /// Selects Winograd's algorithm if oneDNN has it (windows of 3 x 3, strides of one, AVX-512): F(2 x 2, 3 x 3) or
  /// F(4 x 4, 3 x 3) of Lavin and Gray (2016) need a half to a quarter of the multiplications. It runs image by image,
  /// since oneDNN chooses between the two, and thus rounding and the order of the weights, by their number.
  void pick_algorithm(const Sizes& sizes) {
    for (const auto algorithm : {dnnl::algorithm::convolution_winograd, dnnl::algorithm::convolution_direct}) {
      algorithm_ = algorithm;
      weights_ = memory::desc(sizes, memory::data_type::f32, memory::format_tag::any);
      try {
        const auto description = describe(1);
        if (std::string(description.impl_info_str()).find("jit") == std::string::npos) continue;
        weights_ = description.weights_desc();
        return;
      } catch (const dnnl::error&) {
        continue;
      }
    }
    fail("oneDNN has no fast convolution of this shape");
  }

  dnnl::convolution_forward::primitive_desc describe(int64_t images) const {
    const Window& window = shape_.window;
    const Sizes input = {images, shape_.input[1], shape_.input[2], shape_.input[3]};
    const Sizes output = {images, output_[1], output_[2], output_[3]};
    const Sizes dilations = {window.dilations[0] - 1, window.dilations[1] - 1};
    const dnnl::convolution_forward::desc what(
        dnnl::prop_kind::forward_inference, algorithm_,
        floats(input, takes_images(shape_) ? memory::format_tag::nchw : blocked_order()), weights_,
        floats({output_[1]}, memory::format_tag::x), floats(output, blocked_order()), window.strides, dilations,
        window.begin, window.end);
    return {what, attr_, processor()};
  }

  /// Caches a few numbers of images. The first entry, for one image and the original number of threads, is also used
  /// for others whose weights would need another order.
  std::shared_ptr<const Prepared> prepared(int64_t images) const {
    constexpr size_t kMost = 8;
    const int threads = at::get_num_threads();
    const std::lock_guard<std::mutex> lock(mutex_);
    for (const auto& made : prepared_) {
      if (made->images == images && made->threads == threads) return made;
    }
    if (prepared_.size() >= kMost) prepared_.resize(1);
    prepared_.push_back(prepare(images, threads));
    return prepared_.back();
  }

  std::shared_ptr<const Prepared> prepare(int64_t images, int threads) const {
    try {
      const auto made = describe(images);
      return std::make_shared<Prepared>(Prepared{images, threads, dnnl::convolution_forward(made), made.src_desc(),
                                                 made.dst_desc(), made.scratchpad_desc()});
    } catch (const dnnl::error&) {
      if (prepared_.empty() || images != 1) throw;
      Prepared other = *prepared_.front();
      other.threads = threads;
      return std::make_shared<Prepared>(std::move(other));
    }
  }

  Convolution shape_;  // without its weights
  dnnl::primitive_attr attr_;
  dnnl::algorithm algorithm_ = dnnl::algorithm::undef;
  Sizes output_;  // of one image
  memory::desc weights_;
  at::Tensor packed_, bias_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Prepared>> prepared_;
};

/// Whether it is fast in blocks: dense, depthwise, or with groups of whole blocks.
bool suits_blocks(const at::Tensor& weight, int64_t groups) {
  const int64_t width = block_width();
  if (width == 0) return false;
  if (groups == 1 || (groups == weight.size(0) && weight.size(1) == 1)) return true;
  return weight.size(1) % width == 0 && weight.size(0) / groups % width == 0;
}

}  // namespace

std::optional<BlockedFilter> blocked_convolution(const Convolution& convolution, Added added) {
  const auto is_empty = [](int64_t size) { return size == 0; };
  if (!suits_blocks(convolution.weight, convolution.groups) ||
      std::any_of(convolution.input.begin(), convolution.input.end(), is_empty))
    return std::nullopt;
  try {
    const auto made = std::make_shared<const BlockedConvolution>(convolution, added == Added::kYes);
    return [made](const at::Tensor& images, at::Tensor other) { return made->run(images, std::move(other)); };
  } catch (const std::exception& error) {
    logger().debug("a convolution cannot be in blocks: {}", reason_of(error));
    return std::nullopt;
  }
}
#else
std::optional<BlockedFilter> blocked_convolution(const Convolution& /*convolution*/, Added /*added*/) {
  return std::nullopt;
}
#endif

bool takes_images(const Convolution& convolution) { return convolution.groups == 1 && convolution.input[1] <= 3; }

}  // namespace protocom::onnx
