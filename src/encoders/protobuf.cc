#include "encoders/protobuf.h"

#include "base/error.h"

namespace protocom {
namespace {

void check_kind(const protozero::pbf_reader& reader, protozero::pbf_wire_type type) {
  if (!reader.has_wire_type(type)) fail("a field has an unexpected type; the file is damaged");
}

}  // namespace

int64_t read_integer(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::varint);
  return reader.get_int64();
}

float read_float(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::fixed32);
  return reader.get_float();
}

double read_double(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::fixed64);
  return reader.get_double();
}

std::string_view read_view(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::length_delimited);
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

std::string read_text(protozero::pbf_reader& reader) { return std::string(read_view(reader)); }

protozero::pbf_reader read_message(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::length_delimited);
  return reader.get_message();
}

}  // namespace protocom
