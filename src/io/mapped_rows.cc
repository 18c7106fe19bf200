#include "io/mapped_rows.h"

#include <ATen/ATen.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "io/detail/npy.h"
#include "io/detail/stored_member.h"
#include "io/files.h"
#include "io/scratch_tensor.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

std::atomic<int64_t> least_bytes{int64_t{1} << 30};

/// Where mapped matrices lie.
struct MappedPlaces {
  std::mutex mutex;
  std::map<uintptr_t, size_t> sizes;
};

// Never destroyed: a tensor may outlive the program's statics.
MappedPlaces& mapped_places() {
  static auto* const kPlaces = new MappedPlaces;
  return *kPlaces;
}

uintptr_t address_of(const at::Tensor& rows) { return reinterpret_cast<uintptr_t>(rows.data_ptr()); }

/// Rows in a file that is mapped: `owner` keeps it so.
struct RawRows {
  std::shared_ptr<void> owner;
  const char* data = nullptr;
  at::ScalarType type = at::kFloat;
  int64_t n = 0, d = 0;
};

at::Tensor registered(void* data, int64_t n, int64_t d, std::shared_ptr<void> owner) {
  const auto address = reinterpret_cast<uintptr_t>(data);
  {
    const std::lock_guard lock(mapped_places().mutex);
    mapped_places().sizes[address] = static_cast<size_t>(n * d) * sizeof(float);
  }
  const auto release = [address, owner = std::move(owner)](void*) mutable {
    {
      const std::lock_guard lock(mapped_places().mutex);
      mapped_places().sizes.erase(address);
    }
    owner.reset();
  };
  return at::from_blob(data, {n, d}, release, at::TensorOptions(at::kFloat));
}

void drop_pages(const char* data, size_t size) {
  static const auto kPage = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t skipped = (kPage - reinterpret_cast<uintptr_t>(data) % kPage) % kPage;
  const size_t whole = size > skipped ? (size - skipped) / kPage * kPage : 0;
  if (whole > 0) ::madvise(const_cast<char*>(data + skipped), whole, MADV_DONTNEED);
}

/// float32 in a temporary file.
at::Tensor converted(const RawRows& raw) {
  constexpr int64_t kPiece = int64_t{16} << 20;
  logger().info(
      "{} rows are copied to a temporary file: only float32 at places of four bytes stays where it is (.npy, "
      ".safetensors)",
      raw.n);
  auto out = std::make_shared<at::Tensor>(scratch_tensor(fs::temp_directory_path(), {raw.n, raw.d}, at::kFloat));
  const auto size = static_cast<int64_t>(c10::elementSize(raw.type));
  const int64_t step = std::max<int64_t>(1, kPiece / (raw.d * size));
  for (int64_t first = 0; first < raw.n; first += step) {
    const int64_t rows = std::min(step, raw.n - first);
    const at::Tensor piece = at::empty({rows, raw.d}, raw.type);
    const char* from = raw.data + first * raw.d * size;
    std::memcpy(piece.data_ptr(), from, piece.nbytes());
    at::Tensor to = out->narrow(0, first, rows);
    to.copy_(piece);
    drop_pages(from, piece.nbytes());
    drop_pages(static_cast<const char*>(to.data_ptr()), to.nbytes());
  }
  void* data = out->data_ptr();
  return registered(data, raw.n, raw.d, out);
}

std::optional<at::Tensor> mapped_from_raw(RawRows raw) {
  const bool is_large = raw.n > 0 && raw.d > 0 && raw.n * raw.d * static_cast<int64_t>(sizeof(float)) >= mapped_from();
  if (!is_large) return std::nullopt;
  if (raw.type != at::kFloat || reinterpret_cast<uintptr_t>(raw.data) % sizeof(float) != 0) return converted(raw);
  return registered(const_cast<char*>(raw.data), raw.n, raw.d, std::move(raw.owner));
}

std::optional<at::Tensor> mapped_array(const std::shared_ptr<MappedFile>& file, std::string_view bytes,
                                       const std::string& where) {
  static const std::map<std::string, at::ScalarType> kTypes = {
      {"<f2", at::kHalf}, {"<f4", at::kFloat}, {"<f8", at::kDouble}};
  const npy::View view = npy::parse(bytes, where);
  const auto type = kTypes.find(view.descr);
  if (type == kTypes.end() || view.fortran || view.shape.size() != 2 || view.shape[1] == 0) return std::nullopt;
  const size_t row = static_cast<size_t>(view.shape[1]) * c10::elementSize(type->second);
  // A damaged one is left to the reader that says so.
  if (view.data.size() % row != 0 || view.data.size() / row != static_cast<size_t>(view.shape[0])) return std::nullopt;
  return mapped_from_raw({file, view.data.data(), type->second, view.shape[0], view.shape[1]});
}

}  // namespace

int64_t mapped_from() { return least_bytes; }
void set_mapped_from(int64_t bytes) { least_bytes = bytes; }

std::optional<at::Tensor> map_npy_rows(const fs::path& path) {
  return reading(path, [&]() -> std::optional<at::Tensor> {
    if (static_cast<int64_t>(fs::file_size(path)) < mapped_from() / 2) return std::nullopt;  // float16 is the smallest
    const auto file = std::make_shared<MappedFile>(path);
    return mapped_array(file, file->bytes(), path.string());
  });
}

std::optional<at::Tensor> map_npz_rows(const fs::path& path, const std::string& member) {
  return reading(path, [&]() -> std::optional<at::Tensor> {
    if (static_cast<int64_t>(fs::file_size(path)) < mapped_from() / 2) return std::nullopt;
    const auto file = std::make_shared<MappedFile>(path);
    const auto bytes = stored_member(file->bytes(), member + ".npy");
    return bytes ? mapped_array(file, *bytes, path.string()) : std::nullopt;
  });
}

std::optional<at::Tensor> map_tensor_rows(const at::Tensor& tensor) {
  if (tensor.dim() != 2 || !tensor.is_contiguous() || !at::isFloatingType(tensor.scalar_type())) return std::nullopt;
  return mapped_from_raw({std::make_shared<at::Tensor>(tensor), static_cast<const char*>(tensor.data_ptr()),
                          tensor.scalar_type(), tensor.size(0), tensor.size(1)});
}

bool is_mapped(const at::Tensor& rows) {
  if (!rows.defined() || rows.numel() == 0) return false;
  const uintptr_t address = address_of(rows);
  const std::lock_guard lock(mapped_places().mutex);
  auto found = mapped_places().sizes.upper_bound(address);
  if (found == mapped_places().sizes.begin()) return false;
  --found;
  return address < found->first + found->second;
}

void forget_pages(const at::Tensor& rows) {
  if (is_mapped(rows) && rows.is_contiguous()) drop_pages(static_cast<const char*>(rows.data_ptr()), rows.nbytes());
}

}  // namespace protocom
