#include "io/npz.h"

#include <zip.h>

#include <algorithm>
#include <deque>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "io/detail/npy.h"
#include "io/files.h"

namespace protocom {
namespace {

std::string zip_reason(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  return reason;
}

constexpr std::string_view kArraySuffix = ".npy";
constexpr zip_uint64_t kBestRatio = 1032;  // the greatest compression ratio of deflate
constexpr size_t kPiece = size_t{16} << 20;

// Limit of memory besides a multiple of the file's bytes: equal values are compressed to a thousandth, one takes up to
// eight bytes here, and a text 32 besides its own.
constexpr uint64_t kFewBytes = uint64_t{512} << 20, kFewValues = uint64_t{1} << 27, kMostForAByte = 64;
// Of JSON, which takes many times its letters in memory.
constexpr uint64_t kFewLetters = uint64_t{16} << 20;
constexpr uint64_t kFewTexts = uint64_t{1} << 20;

zip_stat_t stat_of(zip_t* archive, zip_uint64_t index) {
  zip_stat_t status;
  zip_stat_init(&status);
  zip_stat_index(archive, index, 0, &status);
  return status;
}

/// Checks sizes: the directory of a damaged archive may state sizes that would take all memory.
void check_sizes(const std::filesystem::path& path, zip_t* archive) {
  const zip_uint64_t whole = std::filesystem::file_size(path);
  zip_uint64_t left = whole;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const zip_stat_t status = stat_of(archive, i);
    const char* name = status.name == nullptr ? "" : status.name;
    if (status.comp_size > left) {
      fail("{}: member '{}' is damaged: the compressed sizes of the members exceed the file's", path.string(),
           excerpt(name));
    }
    left -= status.comp_size;
    if (status.size / kBestRatio > status.comp_size) {
      fail("{}: member '{}' is damaged: {} bytes cannot unpack to {}", path.string(), excerpt(name), status.comp_size,
           status.size);
    }
    const zip_uint64_t most = ends_with(name, ".json") ? std::max(kFewLetters, status.comp_size * kMostForAByte)
                                                       : std::max(kFewBytes, whole * kMostForAByte);
    if (status.size > most)
      fail("{}: member '{}' unpacks to {} bytes, expected at most {}: save it without compression", path.string(),
           excerpt(name), status.size, most);
  }
}

/// Refuses two members of one name, between which readers choose differently.
void check_names(const std::filesystem::path& path, zip_t* archive) {
  std::set<std::string> seen;
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive, 0));
  for (zip_uint64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(archive, i, 0);
    if (name != nullptr && !seen.insert(name).second) fail("{}: duplicate member '{}'", path.string(), excerpt(name));
  }
}

/// Reads in pieces, so that no memory is allocated for data that are stated but missing. Throws Error without a file.
std::string read_all(zip_file_t* file, size_t size) {
  std::string content;
  while (content.size() < size) {
    const size_t filled = content.size();
    content.resize(std::min(size, filled + kPiece));
    const zip_int64_t count = zip_fread(file, content.data() + filled, content.size() - filled);
    if (count <= 0) fail("{}", zip_file_strerror(file));
    content.resize(filled + static_cast<size_t>(count));
  }
  char beyond = 0;  // the checksum is compared when the end is read
  if (zip_fread(file, &beyond, 1) != 0) fail("{}", zip_file_strerror(file));
  return content;
}

/// Parses the array in a member of a file.
npy::View parse_member(std::string_view content, const std::filesystem::path& path, const std::string& where) {
  npy::View view = npy::parse(content, where);
  const uint64_t whole = std::filesystem::file_size(path);
  const uint64_t most = npy::is_text(view) ? kFewTexts + whole : std::max(kFewValues, whole * kMostForAByte);
  uint64_t count = 1;
  bool overflows = false;
  for (const int64_t size : view.shape) overflows |= __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count);
  if (overflows || count > most)
    fail("{}: {} {}, expected at most {} in a file of {} bytes: save it without compression", where,
         overflows ? UINT64_MAX : count, npy::is_text(view) ? "texts" : "values", most, whole);
  return view;
}

NumpyArray to_numpy_array(const npy::View& view, const std::string& where) {
  if (npy::is_text(view)) return npy::to_strings(view, where);
  return npy::to_array(view, where);
}

}  // namespace

struct NpzReader::Impl {
  std::filesystem::path path;
  std::unique_ptr<zip_t, void (*)(zip_t*)> archive{nullptr, zip_discard};

  [[nodiscard]] zip_int64_t find(const std::string& name) const {
    const zip_int64_t array = zip_name_locate(archive.get(), (name + std::string(kArraySuffix)).c_str(), 0);
    return array >= 0 ? array : zip_name_locate(archive.get(), name.c_str(), 0);
  }

  [[nodiscard]] std::string where(const std::string& name) const {
    return path.string() + ": member '" + excerpt(name) + "'";
  }
};

NpzReader::NpzReader(const std::filesystem::path& path) : impl_(std::make_unique<Impl>()) {
  impl_->path = path;
  check_plain_file(path);
  int code = 0;
  impl_->archive.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!impl_->archive) {
    if (code == ZIP_ER_NOZIP) fail("{} is not an npz file (no zip archive)", path.string());
    fail("cannot open {}: {}", path.string(), zip_reason(code));
  }
  check_sizes(path, impl_->archive.get());
  check_names(path, impl_->archive.get());
}

NpzReader::~NpzReader() = default;

bool NpzReader::has(const std::string& name) const { return impl_->find(name) >= 0; }

std::vector<std::string> NpzReader::names() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(impl_->archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* stored = zip_get_name(impl_->archive.get(), static_cast<zip_uint64_t>(i), 0);
    std::string name = stored == nullptr ? "" : stored;
    if (ends_with(name, kArraySuffix) && name != kArraySuffix) name.resize(name.size() - kArraySuffix.size());
    names.push_back(std::move(name));
  }
  return names;
}

std::string NpzReader::bytes(const std::string& name) const {
  const zip_int64_t index = impl_->find(name);
  if (index < 0) {
    fail("{} has no member '{}'; it has: {}", impl_->path.string(), name,
         excerpt(fmt::format("{}", fmt::join(names(), ", ")), 300));
  }
  const std::unique_ptr<zip_file_t, int (*)(zip_file_t*)> file(
      zip_fopen_index(impl_->archive.get(), static_cast<zip_uint64_t>(index), 0), zip_fclose);
  if (!file) fail("{}: {}", impl_->where(name), zip_strerror(impl_->archive.get()));
  try {
    return read_all(file.get(), stat_of(impl_->archive.get(), static_cast<zip_uint64_t>(index)).size);
  } catch (const std::exception& error) {
    fail("{} is damaged: {}", impl_->where(name), reason_of(error));
  }
}

Array NpzReader::array(const std::string& name) const {
  const std::string content = bytes(name);
  return npy::to_array(parse_member(content, path(), impl_->where(name)), impl_->where(name));
}

std::vector<std::string> NpzReader::strings(const std::string& name) const {
  const std::string content = bytes(name);
  return npy::to_strings(parse_member(content, path(), impl_->where(name)), impl_->where(name));
}

const std::filesystem::path& NpzReader::path() const { return impl_->path; }

struct NpzWriter::Impl {
  std::filesystem::path path;
  std::deque<std::pair<std::string, std::string>> members;

  void write(const std::filesystem::path& temporary) const {
    int code = 0;
    zip_t* archive = zip_open(temporary.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &code);
    if (archive == nullptr) fail("cannot create {}: {}", path.string(), zip_reason(code));
    for (const auto& [name, content] : members) {
      zip_source_t* source = zip_source_buffer(archive, content.data(), content.size(), 0);
      const zip_int64_t index = zip_file_add(archive, name.c_str(), source, ZIP_FL_ENC_UTF_8);
      if (index < 0) {
        zip_source_free(source);
        const std::string reason = zip_strerror(archive);
        zip_discard(archive);
        fail("cannot write {}: {}", path.string(), reason);
      }
      zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
      zip_file_set_mtime(archive, static_cast<zip_uint64_t>(index), 315532800,
                         0);  // 1980-01-01: same content, same bytes
    }
    if (zip_close(archive) != 0) {
      const std::string reason = zip_strerror(archive);
      zip_discard(archive);
      fail("cannot write {}: {}", path.string(), reason);
    }
  }
};

NpzWriter::NpzWriter(std::filesystem::path path) : impl_(std::make_unique<Impl>()) { impl_->path = std::move(path); }

NpzWriter::~NpzWriter() = default;

void NpzWriter::add(const std::string& name, const Array& array) {
  std::string content = npy::header_of(array);
  content.append(static_cast<const char*>(array.raw()), array.bytes());
  add_bytes(name + std::string(kArraySuffix), std::move(content));
}

void NpzWriter::add(const std::string& name, const std::vector<std::string>& strings) {
  add_bytes(name + std::string(kArraySuffix), npy::encode(strings));
}

void NpzWriter::add_bytes(const std::string& name, std::string bytes) {
  impl_->members.emplace_back(name, std::move(bytes));
}

void NpzWriter::close() {
  write_file_with(impl_->path, [this](const std::filesystem::path& temporary) { impl_->write(temporary); });
}

Array read_npy(const std::filesystem::path& path) {
  return reading(path, [&] {
    const std::string content = read_file(path);
    return npy::to_array(npy::parse(content, path.string()), path.string());
  });
}

NumpyArray array_in(const NpzReader& reader, const std::string& name) {
  const std::string where = reader.path().string() + ": member '" + excerpt(name) + "'", content = reader.bytes(name);
  return to_numpy_array(parse_member(content, reader.path(), where), where);
}

NumpyArray read_npy_array(const std::filesystem::path& path) {
  return reading(path, [&] {
    const std::string content = read_file(path);
    return to_numpy_array(npy::parse(content, path.string()), path.string());
  });
}

}  // namespace protocom
