#include "encoders/protobuf_copy.h"

namespace protocom {

void copy_field(protozero::pbf_reader& from, protozero::pbf_writer& to) {
  const auto tag = from.tag();
  switch (from.wire_type()) {
    case protozero::pbf_wire_type::varint:
      to.add_uint64(tag, from.get_uint64());
      break;
    case protozero::pbf_wire_type::fixed64:
      to.add_fixed64(tag, from.get_fixed64());
      break;
    case protozero::pbf_wire_type::fixed32:
      to.add_fixed32(tag, from.get_fixed32());
      break;
    default:
      to.add_bytes(tag, from.get_view());
  }
}

}  // namespace protocom
