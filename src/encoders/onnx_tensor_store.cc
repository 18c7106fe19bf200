#include "encoders/onnx_tensor_store.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "encoders/onnx_tensor_files.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_writer;

constexpr protozero::pbf_tag_type kInsideField = 9;  // TensorProto.raw_data

/// Alignment of tensors. Large ones can be memory-mapped, on Windows at multiples of 64 KiB.
constexpr int64_t kAligned = 64, kLargeAligned = 65536;
constexpr size_t kLargeTensor = size_t{1} << 20;

}  // namespace

TensorStore::TensorStore(std::filesystem::path file, std::string location)
    : file_(std::move(file)), location_(std::move(location)), out_(file_, std::ios::binary | std::ios::trunc) {
  check_written();
}

void TensorStore::check_written() const {
  if (!out_) fail("cannot write {}: {}", (file_.parent_path() / location_).string(), std::strerror(errno));
}

void TensorStore::check_size(int64_t bytes) {
  if (bytes <= most_) return;
  exceeded_ = true;
  fail(
      "the ONNX file would have {:.1f} GB, expected at most {:.3g}: take a smaller encoder, write the weights into a "
      "file beside it (--external-data), or leave the encoder out (--features)",
      static_cast<double>(bytes) / 1e9, static_cast<double>(most_) / 1e9);
}

void TensorStore::write(const void* values, size_t bytes, pbf_writer& tensor) {
  const auto* begin = static_cast<const char*>(values);
  if (!location_.empty() && bytes >= kFewestOutside) return write_outside(begin, bytes, tensor);
  inside_ += static_cast<int64_t>(bytes);
  check_size(inside_);  // before they use memory
  tensor.add_bytes(kInsideField, begin, bytes);
}

void TensorStore::write_outside(const char* values, size_t bytes, pbf_writer& tensor) {
  const int64_t unit = bytes >= kLargeTensor ? kLargeAligned : kAligned;
  const int64_t offset = (outside_ + unit - 1) / unit * unit;
  out_ << std::string(static_cast<size_t>(offset - outside_), '\0');
  out_.write(values, static_cast<std::streamsize>(bytes));
  check_written();
  outside_ = offset + static_cast<int64_t>(bytes);
  add_place({location_, static_cast<uint64_t>(offset), bytes}, tensor);
}

void TensorStore::close() {
  if (location_.empty()) return;
  out_.close();
  check_written();
}

}  // namespace protocom::onnx
