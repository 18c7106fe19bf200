#include "encoders/protobuf.h"

#include "base/error.h"

namespace protocom {
namespace {

void check_kind(const protozero::pbf_reader& reader, protozero::pbf_wire_type type) {
  if (!reader.has_wire_type(type)) fail("a field has an unexpected type; the file is damaged");
}

}  // namespace

int64_t whole_of(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::varint);
  return reader.get_int64();
}

float float_of(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::fixed32);
  return reader.get_float();
}

double double_of(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::fixed64);
  return reader.get_double();
}

std::string_view view_of(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::length_delimited);
  const auto view = reader.get_view();
  return {view.data(), view.size()};
}

std::string text_of(protozero::pbf_reader& reader) { return std::string(view_of(reader)); }

protozero::pbf_reader message_of(protozero::pbf_reader& reader) {
  check_kind(reader, protozero::pbf_wire_type::length_delimited);
  return reader.get_message();
}

}  // namespace protocom
