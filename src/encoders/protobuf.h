#pragma once
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

namespace protocom {

/// Return the value of the current field of `reader`. Throw Error if it is of another type: protozero only asserts it.
int64_t read_integer(protozero::pbf_reader& reader);
float read_float(protozero::pbf_reader& reader);
double read_double(protozero::pbf_reader& reader);
std::string_view read_view(protozero::pbf_reader& reader);
std::string read_text(protozero::pbf_reader& reader);
protozero::pbf_reader read_message(protozero::pbf_reader& reader);

/// The action for a field number.
template <typename Read>
struct Field {
  protozero::pbf_tag_type tag;
  Read read;
};
template <typename Read>
Field(protozero::pbf_tag_type, Read) -> Field<Read>;

/// Reads a message: each `read` takes its field's value from `reader`. Other fields are skipped.
template <typename... Read>
void read_fields(protozero::pbf_reader& reader, const Field<Read>&... fields) {
  while (reader.next()) {
    const auto tag = reader.tag();
    const bool known = ((tag == fields.tag && (fields.read(), true)) || ...);
    if (!known) reader.skip();
  }
}

}  // namespace protocom
