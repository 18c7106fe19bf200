#include "networks/tflite/detail/flat_table.h"

#include <algorithm>
#include <utility>

namespace protocom::tflite {
namespace {

constexpr size_t kMostTables = 200'000;  // in one vector: a table in memory is larger than the offset that points to it
// Operators may share a list in the file, and each gets a copy of it. Real files share few; a hostile one may make
// thousands share a large list.
constexpr size_t kCopies = 4;
constexpr size_t kAlwaysCopied = size_t{1} << 20;

}  // namespace

FlatTable FlatTable::root(std::string_view bytes) {
  uint32_t offset = 0;
  if (bytes.size() < sizeof(offset)) fail("the file is cut off: it has {} bytes", bytes.size());
  std::memcpy(&offset, bytes.data(), sizeof(offset));
  return {bytes, offset, std::make_shared<size_t>(0)};
}

FlatTable::FlatTable(std::string_view all, size_t place, std::shared_ptr<size_t> copies)
    : all_(all), copies_(std::move(copies)), place_(place) {
  const int64_t fields = static_cast<int64_t>(place) - value<int32_t>(place);
  if (fields < 0) fail("offset out of range; the file is damaged");
  fields_ = static_cast<size_t>(fields);
  length_ = value<uint16_t>(fields_);
}

size_t FlatTable::place_of(size_t field) const {
  const size_t at = 4 + 2 * field;
  if (at + 2 > length_) return 0;
  const auto offset = value<uint16_t>(fields_ + at);
  return offset == 0 ? 0 : place_ + offset;
}

size_t FlatTable::follow(size_t place) const { return place + value<uint32_t>(place); }

std::string_view FlatTable::vector_bytes(size_t field, size_t element) const {
  const size_t place = place_of(field);
  if (place == 0) return {};
  const size_t start = follow(place);
  const uint64_t size = uint64_t{value<uint32_t>(start)} * element;
  if (size > all_.size() - start - 4)
    fail("a list of {} bytes is longer than the file; it is cut off or damaged", size);
  return all_.substr(start + 4, size);
}

std::string_view FlatTable::copied(std::string_view bytes) const {
  const size_t most = std::max(kCopies * all_.size(), kAlwaysCopied);
  if (bytes.size() > most - *copies_)
    fail("shared lists and names have more than {} bytes together, in a file of {}", most, all_.size());
  *copies_ += bytes.size();
  return bytes;
}

FlatTable FlatTable::table(size_t field) const {
  const size_t place = place_of(field);
  if (place == 0) fail("missing part; the file is damaged");
  return {all_, follow(place), copies_};
}

std::vector<FlatTable> FlatTable::tables(size_t field) const {
  const size_t count = vector_bytes(field, sizeof(uint32_t)).size() / sizeof(uint32_t);
  std::vector<FlatTable> tables;
  if (count == 0) return tables;
  if (count > kMostTables) fail("it has {} parts of one kind, expected at most {}", count, kMostTables);
  const size_t first = follow(place_of(field)) + 4;
  for (size_t i = 0; i < count; ++i) tables.push_back({all_, follow(first + i * sizeof(uint32_t)), copies_});
  return tables;
}

}  // namespace protocom::tflite
