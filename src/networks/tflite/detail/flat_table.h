#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace protocom::tflite {

/// A table of a FlatBuffer (https://flatbuffers.dev/internals), read in place. Every offset is checked against the size
/// of the buffer; invalid ones throw Error. Fields are referred to by their number in the schema. Many tables may point
/// to one list or text, so the copies of all tables of a buffer together are limited too.
class FlatTable {
 public:
  /// Returns the root of a buffer. Throws Error.
  static FlatTable root(std::string_view bytes);

  [[nodiscard]] bool has(size_t field) const { return place_of(field) != 0; }
  /// Returns a number of the table itself, or `otherwise` if it is omitted.
  template <typename Value>
  [[nodiscard]] Value number(size_t field, Value otherwise) const {
    const size_t place = place_of(field);
    return place == 0 ? otherwise : value<Value>(place);
  }
  /// Empty if it is omitted.
  template <typename Value>
  [[nodiscard]] std::vector<Value> numbers(size_t field) const {
    const std::string_view raw = copied(vector_bytes(field, sizeof(Value)));
    std::vector<Value> values(raw.size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(Value));
    return values;
  }
  [[nodiscard]] std::string_view bytes(size_t field) const { return vector_bytes(field, 1); }
  [[nodiscard]] std::string text(size_t field) const { return std::string(copied(vector_bytes(field, 1))); }
  /// Throws Error if it is omitted.
  [[nodiscard]] FlatTable table(size_t field) const;
  [[nodiscard]] std::vector<FlatTable> tables(size_t field) const;

 private:
  FlatTable(std::string_view all, size_t place, std::shared_ptr<size_t> copies);

  template <typename Value>
  [[nodiscard]] Value value(size_t place) const {
    Value value;
    if (place > all_.size() || sizeof(Value) > all_.size() - place)
      fail("offset out of range; the file is cut off or damaged");
    std::memcpy(&value, all_.data() + place, sizeof(Value));
    return value;
  }
  /// Returns the position of a field's value; 0: omitted.
  [[nodiscard]] size_t place_of(size_t field) const;
  /// Returns the target of the offset at `place`.
  [[nodiscard]] size_t follow(size_t place) const;
  [[nodiscard]] std::string_view vector_bytes(size_t field, size_t element) const;
  /// Returns the same bytes, after counting them as about to be copied. Throws Error if that is too much.
  [[nodiscard]] std::string_view copied(std::string_view bytes) const;

  std::string_view all_;
  std::shared_ptr<size_t> copies_;  ///< bytes copied for all tables
  size_t place_ = 0;
  size_t fields_ = 0;  ///< position of the list of its fields' offsets
  size_t length_ = 0;  ///< bytes of that list
};

}  // namespace protocom::tflite
