#pragma once
#include <protozero/pbf_reader.hpp>

namespace protocom {

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
