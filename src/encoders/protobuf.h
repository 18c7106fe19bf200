#pragma once
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

namespace protocom {

/// What a field holds at which `reader` stands. Throw Error if it is of another kind: protozero only asserts it.
int64_t whole_of(protozero::pbf_reader& reader);
float float_of(protozero::pbf_reader& reader);
double double_of(protozero::pbf_reader& reader);
std::string_view view_of(protozero::pbf_reader& reader);
std::string text_of(protozero::pbf_reader& reader);
protozero::pbf_reader message_of(protozero::pbf_reader& reader);

/// What is done at a field of that number.
template <typename Read>
struct Field {
  protozero::pbf_tag_type tag;
  Read read;
};
template <typename Read>
Field(protozero::pbf_tag_type, Read) -> Field<Read>;

/// Goes through a message: each `read` takes its field's value from `reader`. Fields without one are passed over.
template <typename... Read>
void read_fields(protozero::pbf_reader& reader, const Field<Read>&... fields) {
  while (reader.next()) {
    const auto tag = reader.tag();
    const bool known = ((tag == fields.tag && (fields.read(), true)) || ...);
    if (!known) reader.skip();
  }
}

}  // namespace protocom
