#include "io/detail/npy.h"

#include <utf8proc.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/utf8.h"
#include "io/detail/fortran_order.h"

namespace protocom::npy {
namespace {

const std::map<std::string, NumberType>& dtypes() {
  static const std::map<std::string, NumberType> kTable = {
      {"<f2", NumberType::kFloat16}, {"<f4", NumberType::kFloat32}, {"<f8", NumberType::kFloat64},
      {"<i8", NumberType::kInt64},   {"<i4", NumberType::kInt32},   {"<i2", NumberType::kInt16},
      {"|i1", NumberType::kInt8},    {"|u1", NumberType::kUInt8},   {"|b1", NumberType::kBool}};
  return kTable;
}

constexpr int64_t kLargestSize = int64_t{1} << 40;  ///< of one dimension
constexpr size_t kMostDimensions = 32;              ///< as in NumPy

uint32_t little_endian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

/// Returns the text after `'key':` in the header's Python dict.
std::string_view value_of(std::string_view dict, const std::string& key, const std::string& where) {
  const size_t at = dict.find("'" + key + "'");
  const size_t colon = at == std::string_view::npos ? at : dict.find(':', at);
  if (colon == std::string_view::npos) fail("{}: the npy header has no '{}'", where, key);
  dict.remove_prefix(colon + 1);
  dict.remove_prefix(std::min(dict.find_first_not_of(' '), dict.size()));
  return dict;
}

std::vector<int64_t> parse_shape(std::string_view text, const std::string& where) {
  const size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string_view::npos) fail("{}: the npy header has no shape", where);
  std::vector<int64_t> shape;
  int64_t value = -1;
  for (const char c : text.substr(1, close)) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      value = std::max<int64_t>(value, 0) * 10 + (c - '0');
      if (value > kLargestSize)
        fail("{}: the npy header has the invalid shape {}", where, excerpt(text.substr(0, close + 1)));
    } else if (c == '-') {
      fail("{}: the npy header has the invalid shape {}", where, excerpt(text.substr(0, close + 1)));
    } else if (value >= 0) {
      shape.push_back(value);
      value = -1;
    }
    if (shape.size() > kMostDimensions) fail("{}: the array has more than {} dimensions", where, kMostDimensions);
  }
  return shape;
}

/// Checks the size before allocating memory: a damaged header may state more than there is.
void check_size(const View& view, int64_t item_size, const std::string& where) {
  int64_t expected = item_size;
  bool overflows = false;
  for (const int64_t size : view.shape) overflows |= __builtin_mul_overflow(expected, size, &expected);
  if (overflows || static_cast<int64_t>(view.data.size()) != expected) {
    fail("{}: {} bytes of data do not match the shape [{}] of dtype '{}'; the file is damaged", where, view.data.size(),
         fmt::join(view.shape, ", "), excerpt(view.descr));
  }
}

// File names on Linux need not be UTF-8. As in Python's os.fsdecode, an invalid byte is represented by U+DC00 + byte,
// which no valid text contains, so that every name can be restored.
constexpr uint32_t kEscapedByte = 0xdc00;

void append_letter(std::string& out, uint32_t code) {
  if (code >= kEscapedByte + 0x80 && code <= kEscapedByte + 0xff)
    out += static_cast<char>(code - kEscapedByte);
  else
    append_utf8(out, code);
}

/// Returns the code points of UTF-8, with invalid bytes escaped.
std::vector<uint32_t> code_points(std::string_view text) {
  std::vector<uint32_t> points;
  while (!text.empty()) {
    utf8proc_int32_t code = 0;
    const auto used = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                       static_cast<utf8proc_ssize_t>(text.size()), &code);
    points.push_back(used > 0 ? static_cast<uint32_t>(code) : kEscapedByte + static_cast<uint8_t>(text[0]));
    text.remove_prefix(used > 0 ? static_cast<size_t>(used) : 1);
  }
  return points;
}

/// Returns 9 for "<U9".
size_t text_length(const View& view, const std::string& where) {
  const std::string digits = view.descr.substr(2);
  const bool number =
      !digits.empty() && digits.size() <= 9 && digits.find_first_not_of("0123456789") == std::string::npos;
  if (!number) fail("{}: dtype '{}' is not text of a fixed length", where, excerpt(view.descr));
  return std::stoul(digits);
}

std::string header(const std::string& descr, const Shape& shape) {
  std::string sizes;
  for (const int64_t size : shape) sizes += fmt::format("{}, ", size);
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, sizes);
  const size_t unpadded = 10 + dict.size() + 1;
  dict.append((64 - unpadded % 64) % 64, ' ');
  dict += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

}  // namespace

View parse(std::string_view bytes, const std::string& where) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY") fail("{}: not a NumPy array", where);
  const size_t length_bytes = bytes[6] == 1 ? 2 : 4;
  const size_t length = little_endian(bytes.substr(8, length_bytes));
  const size_t start = 8 + length_bytes;
  if (start + length > bytes.size()) fail("{}: the npy header is cut off", where);
  const std::string_view dict = bytes.substr(start, length);

  View view;
  const std::string_view descr = value_of(dict, "descr", where);
  if (descr.empty() || descr[0] != '\'') fail("{}: structured arrays are not supported", where);
  view.descr = std::string(descr.substr(1, descr.find('\'', 1) - 1));
  view.shape = parse_shape(value_of(dict, "shape", where), where);
  view.fortran = value_of(dict, "fortran_order", where).substr(0, 4) == "True" && view.shape.size() > 1;
  view.data = bytes.substr(start + length);
  return view;
}

namespace {

/// Reads unsigned integers as int64, since Array has none larger than a byte. Labels of other programs have such types.
Array unsigned_to_int64(const View& view, size_t width, const std::string& where) {
  check_size(view, static_cast<int64_t>(width), where);
  Array array = Array::uninitialised(view.shape, NumberType::kInt64);
  auto* to = array.mutable_data<int64_t>();
  for (size_t begin = 0; begin < view.data.size(); begin += width) {
    uint64_t value = 0;
    std::memcpy(&value, view.data.data() + begin, width);  // little-endian, like the processor
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      fail("{}: the value {} is too large for int64", where, value);
    *to++ = static_cast<int64_t>(value);
  }
  return array;
}

}  // namespace

bool is_text(const View& view) { return view.descr.rfind("<U", 0) == 0 || view.descr.rfind("|S", 0) == 0; }

namespace {

/// Refuses Python's pickle, which can run any code.
void refuse_objects(const View& view, const std::string& where) {
  if (view.descr.rfind("|O", 0) == 0)
    fail(
        "{}: an object array (dtype '|O') is a Python pickle, which can run any code and is not supported; save rows "
        "of numbers as numpy.stack(list(x)).astype('f4'), texts as numpy.array(list(x), dtype=str)",
        where);
}

Array from_big_endian(const View& view, const std::string& where) {
  View swapped = view;
  swapped.descr[0] = '<';
  std::string bytes(view.data);
  const auto width = view.descr.size() == 3 ? static_cast<size_t>(view.descr[2] - '0') : 0;
  if (width != 2 && width != 4 && width != 8)
    fail("{}: dtype '{}' is not a supported numeric type", where, excerpt(view.descr));
  for (size_t begin = 0; begin + width <= bytes.size(); begin += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                 bytes.begin() + static_cast<std::ptrdiff_t>(begin + width));
  swapped.data = bytes;
  return to_array(swapped, where);
}

Array from_fortran(const View& view, const std::string& where) {
  View as_c = view;
  as_c.fortran = false;
  const Array read = to_array(as_c, where);
  Array array = Array::uninitialised(view.shape, read.type());
  const auto convert_as = [&](auto number) {
    using Number = decltype(number);
    to_c_order(static_cast<const Number*>(read.raw()), view.shape, static_cast<Number*>(array.mutable_raw()));
  };
  switch (size_of(read.type())) {
    case 1:
      convert_as(uint8_t());
      break;
    case 2:
      convert_as(uint16_t());
      break;
    case 4:
      convert_as(uint32_t());
      break;
    default:
      convert_as(uint64_t());
  }
  return array;
}

}  // namespace

Array to_array(const View& view, const std::string& where) {
  refuse_objects(view, where);
  if (view.fortran) return from_fortran(view, where);
  if (view.descr[0] == '>') return from_big_endian(view, where);
  if (view.descr == "<u2" || view.descr == "<u4" || view.descr == "<u8")
    return unsigned_to_int64(view, static_cast<size_t>(view.descr[2] - '0'), where);
  const auto dtype = dtypes().find(view.descr);
  if (dtype == dtypes().end()) fail("{}: dtype '{}' is not a supported numeric type", where, excerpt(view.descr));
  check_size(view, size_of(dtype->second), where);
  Array array = Array::uninitialised(view.shape, dtype->second);
  if (!view.data.empty()) std::memcpy(array.mutable_raw(), view.data.data(), view.data.size());
  return array;
}

std::vector<std::string> to_strings(const View& view, const std::string& where) {
  refuse_objects(view, where);
  const bool wide = view.descr.rfind("<U", 0) == 0;
  if (!is_text(view)) fail("{}: dtype '{}' is not text", where, excerpt(view.descr));
  if (view.shape.size() != 1) fail("{}: expected a text array of one dimension", where);
  const size_t length = text_length(view, where);
  const size_t width = wide ? 4 : 1;
  check_size(view, static_cast<int64_t>(length * width), where);
  // Texts of length 0 take no bytes, so the file's size does not limit their number.
  if (length == 0 && view.shape[0] > 0) fail("{}: dtype '{}' is text of length 0", where, view.descr);
  std::vector<std::string> strings(static_cast<size_t>(view.shape[0]));
  for (size_t i = 0; i < strings.size(); ++i) {
    size_t end = length;  // NumPy pads with zeros
    const auto code_at = [&](size_t k) { return little_endian(view.data.substr((i * length + k) * width, width)); };
    while (end > 0 && code_at(end - 1) == 0) --end;
    for (size_t k = 0; k < end; ++k) {
      if (wide)
        append_letter(strings[i], code_at(k));
      else
        strings[i] += static_cast<char>(code_at(k));
    }
  }
  return strings;
}

std::string header_of(const Array& array) {
  for (const auto& [descr, dtype] : dtypes()) {
    if (dtype == array.type()) return header(descr, array.shape());
  }
  fail("a tensor of type {} cannot be written as npy", to_string(array.type()));
}

std::string encode(const std::vector<std::string>& strings) {
  std::vector<std::vector<uint32_t>> points;
  points.reserve(strings.size());
  size_t length = 1;
  for (const auto& text : strings) {
    points.push_back(code_points(text));
    length = std::max(length, points.back().size());
  }
  std::string out = header(fmt::format("<U{}", length), {static_cast<int64_t>(strings.size())});
  for (const auto& text : points) {
    for (size_t k = 0; k < length; ++k) {
      const uint32_t code = k < text.size() ? text[k] : 0;
      for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(code >> shift & 0xff);
    }
  }
  return out;
}

}  // namespace protocom::npy
