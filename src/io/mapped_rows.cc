#include "io/mapped_rows.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "io/detail/npy.h"
#include "io/detail/stored_member.h"
#include "io/files.h"
#include "io/scratch_array.h"

namespace protocom {
namespace {

namespace fs = std::filesystem;

std::atomic<int64_t> least_bytes{int64_t{1} << 30};

/// The addresses of mapped matrices.
struct MappedPlaces {
  std::mutex mutex;
  std::map<uintptr_t, size_t> sizes;
};

// Never destroyed: an array may outlive the program's statics.
MappedPlaces& mapped_places() {
  static auto* const kPlaces = new MappedPlaces;
  return *kPlaces;
}

uintptr_t address_of(const Array& rows) { return reinterpret_cast<uintptr_t>(rows.raw()); }

/// Rows in a mapped file, which `owner` keeps mapped.
struct RawRows {
  std::shared_ptr<void> owner;
  const char* data = nullptr;
  NumberType type = NumberType::kFloat32;
  int64_t n = 0, d = 0;
};

Array registered(void* data, int64_t n, int64_t d, std::shared_ptr<void> owner) {
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
  return Array::view(data, {n, d}, NumberType::kFloat32, std::shared_ptr<void>(data, release));
}

void drop_pages(const char* data, size_t size) {
  static const auto kPage = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const size_t skipped = (kPage - reinterpret_cast<uintptr_t>(data) % kPage) % kPage;
  const size_t whole = size > skipped ? (size - skipped) / kPage * kPage : 0;
  if (whole > 0) ::madvise(const_cast<char*>(data + skipped), whole, MADV_DONTNEED);
}

/// Returns the rows as float32 in a temporary file.
Array converted(const RawRows& raw) {
  constexpr int64_t kPiece = int64_t{16} << 20;
  logger().info(
      "{} rows are copied to a temporary file: only float32 data aligned to four bytes is mapped in place (.npy, "
      ".safetensors)",
      raw.n);
  auto out = std::make_shared<Array>(scratch_array(fs::temp_directory_path(), {raw.n, raw.d}, NumberType::kFloat32));
  const int64_t size = size_of(raw.type);
  const int64_t step = std::max<int64_t>(1, kPiece / (raw.d * size));
  for (int64_t first = 0; first < raw.n; first += step) {
    const int64_t rows = std::min(step, raw.n - first);
    Array piece = Array::uninitialised({rows, raw.d}, raw.type);
    const char* from = raw.data + first * raw.d * size;
    std::memcpy(piece.mutable_raw(), from, piece.bytes());
    const Array single = piece.to(NumberType::kFloat32);
    Array to = out->rows(first, first + rows);
    std::memcpy(to.mutable_raw(), single.raw(), single.bytes());
    drop_pages(from, piece.bytes());
    drop_pages(static_cast<const char*>(to.raw()), to.bytes());
  }
  void* data = out->mutable_raw();
  return registered(data, raw.n, raw.d, out);
}

std::optional<Array> mapped_from_raw(RawRows raw) {
  const bool is_large = raw.n > 0 && raw.d > 0 && raw.n * raw.d * static_cast<int64_t>(sizeof(float)) >= mapped_from();
  if (!is_large) return std::nullopt;
  if (raw.type != NumberType::kFloat32 || reinterpret_cast<uintptr_t>(raw.data) % sizeof(float) != 0)
    return converted(raw);
  return registered(const_cast<char*>(raw.data), raw.n, raw.d, std::move(raw.owner));
}

std::optional<Array> mapped_array(const std::shared_ptr<MappedFile>& file, std::string_view bytes,
                                  const std::string& where) {
  static const std::map<std::string, NumberType> kTypes = {
      {"<f2", NumberType::kFloat16}, {"<f4", NumberType::kFloat32}, {"<f8", NumberType::kFloat64}};
  const npy::View view = npy::parse(bytes, where);
  const auto type = kTypes.find(view.descr);
  if (type == kTypes.end() || view.fortran || view.shape.size() != 2 || view.shape[1] == 0) return std::nullopt;
  const size_t row = static_cast<size_t>(view.shape[1] * size_of(type->second));
  // Damaged files are left to the reader that reports them.
  if (view.data.size() % row != 0 || view.data.size() / row != static_cast<size_t>(view.shape[0])) return std::nullopt;
  return mapped_from_raw({file, view.data.data(), type->second, view.shape[0], view.shape[1]});
}

}  // namespace

int64_t mapped_from() { return least_bytes; }
void set_mapped_from(int64_t bytes) { least_bytes = bytes; }

std::optional<Array> map_npy_rows(const fs::path& path) {
  return reading(path, [&]() -> std::optional<Array> {
    if (static_cast<int64_t>(fs::file_size(path)) < mapped_from() / 2) return std::nullopt;  // float16 is the smallest
    const auto file = std::make_shared<MappedFile>(path);
    return mapped_array(file, file->bytes(), path.string());
  });
}

std::optional<Array> map_npz_rows(const fs::path& path, const std::string& member) {
  return reading(path, [&]() -> std::optional<Array> {
    if (static_cast<int64_t>(fs::file_size(path)) < mapped_from() / 2) return std::nullopt;
    const auto file = std::make_shared<MappedFile>(path);
    const auto bytes = stored_member(file->bytes(), member + ".npy");
    return bytes ? mapped_array(file, *bytes, path.string()) : std::nullopt;
  });
}

std::optional<Array> map_array_rows(const Array& array) {
  if (array.dim() != 2 || !is_real(array.type())) return std::nullopt;
  return mapped_from_raw({std::make_shared<Array>(array), static_cast<const char*>(array.raw()), array.type(),
                          array.size(0), array.size(1)});
}

bool is_mapped(const Array& rows) {
  if (!rows.defined() || rows.numel() == 0) return false;
  const uintptr_t address = address_of(rows);
  const std::lock_guard lock(mapped_places().mutex);
  auto found = mapped_places().sizes.upper_bound(address);
  if (found == mapped_places().sizes.begin()) return false;
  --found;
  return address < found->first + found->second;
}

void forget_pages(const Array& rows) {
  if (is_mapped(rows)) drop_pages(static_cast<const char*>(rows.raw()), rows.bytes());
}

}  // namespace protocom
