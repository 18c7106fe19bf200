#include "networks/onnx/detail/blocks.h"

#include <ATen/ATen.h>

#ifdef PROTOCOM_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace protocom::onnx {

#ifdef PROTOCOM_ONEDNN
int64_t block_width() {
  static const int64_t kWidth = [] {
    const auto isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa());
    const auto has = [isa](dnnl::cpu_isa asked) {
      return (isa & static_cast<unsigned>(asked)) == static_cast<unsigned>(asked);
    };
    return has(dnnl::cpu_isa::avx512_core) ? 16 : has(dnnl::cpu_isa::sse41) ? 8 : 0;
  }();
  return kWidth;
}
#else
int64_t block_width() { return 0; }
#endif

int64_t count_blocks(int64_t channels) { return (channels + block_width() - 1) / block_width(); }

at::Tensor to_blocks(const at::Tensor& maps) {
  const int64_t width = block_width();
  const int64_t count = count_blocks(maps.size(1));
  const int64_t missing = count * width - maps.size(1);
  const at::Tensor filled = missing == 0 ? maps : at::constant_pad_nd(maps, {0, 0, 0, 0, 0, missing});
  const at::Tensor blocks =
      filled.reshape({maps.size(0), count, width, maps.size(2), maps.size(3)}).permute({0, 1, 3, 4, 2}).contiguous();
  return blocks.view({-1, maps.size(2), maps.size(3), width}).permute({0, 3, 1, 2});
}

at::Tensor from_blocks(const at::Tensor& blocks, int64_t channels) {
  const int64_t count = count_blocks(channels);
  const at::Tensor maps = blocks.permute({0, 2, 3, 1})
                              .reshape({-1, count, blocks.size(2), blocks.size(3), blocks.size(1)})
                              .permute({0, 2, 3, 1, 4})
                              .reshape({-1, blocks.size(2), blocks.size(3), count * blocks.size(1)})
                              .permute({0, 3, 1, 2});
  return maps.narrow(1, 0, channels).contiguous(at::MemoryFormat::ChannelsLast);
}

}  // namespace protocom::onnx
