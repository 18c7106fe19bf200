#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace protocom::tflite {

/// A table of a FlatBuffer (https://flatbuffers.dev/internals), read where it lies. Every offset is compared with the
/// bytes that there are; what points elsewhere throws Error. Fields are called by their number in the schema. Many
/// tables may point to one list or text, so what is copied of all tables of a buffer together is bounded as well.
class FlatTable {
 public:
  /// The root of a buffer. Throws Error.
  static FlatTable root(std::string_view bytes);

  [[nodiscard]] bool has(size_t field) const { return place_of(field) != 0; }
  /// A number of the table itself, or `otherwise` where it is left out.
  template <typename Value>
  [[nodiscard]] Value number(size_t field, Value otherwise) const {
    const size_t place = place_of(field);
    return place == 0 ? otherwise : value<Value>(place);
  }
  /// Empty if it is left out.
  template <typename Value>
  [[nodiscard]] std::vector<Value> numbers(size_t field) const {
    const std::string_view raw = copied(vector_bytes(field, sizeof(Value)));
    std::vector<Value> values(raw.size() / sizeof(Value));
    if (!values.empty()) std::memcpy(values.data(), raw.data(), values.size() * sizeof(Value));
    return values;
  }
  [[nodiscard]] std::string_view bytes(size_t field) const { return vector_bytes(field, 1); }
  [[nodiscard]] std::string text(size_t field) const { return std::string(copied(vector_bytes(field, 1))); }
  /// Throws Error if it is left out.
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
  /// Where a field's value lies; 0: left out.
  [[nodiscard]] size_t place_of(size_t field) const;
  /// Where the offset at `place` leads.
  [[nodiscard]] size_t follow(size_t place) const;
  [[nodiscard]] std::string_view vector_bytes(size_t field, size_t element) const;
  /// The same bytes, of which a copy is about to be made. Throws Error if that is too much.
  [[nodiscard]] std::string_view copied(std::string_view bytes) const;

  std::string_view all_;
  std::shared_ptr<size_t> copies_;  ///< bytes that were copied of all tables
  size_t place_ = 0;
  size_t fields_ = 0;  ///< where the places of its fields are listed
  size_t length_ = 0;  ///< bytes of that list
};

}  // namespace protocom::tflite
