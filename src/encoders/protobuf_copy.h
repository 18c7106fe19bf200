#pragma once
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace protocom {

/// Copies the current field of `from`, of any type.
void copy_field(protozero::pbf_reader& from, protozero::pbf_writer& to);

}  // namespace protocom
