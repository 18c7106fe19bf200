#pragma once
#include <string_view>

namespace protocom::codec {

/// Throws Error where the boxes and headers of a JPEG 2000 (ISO/IEC 15444-1, annexes A and I), in boxes or alone, ask
/// for more than its pixels need: OpenJPEG takes memory for every tile that the grid of the header has, for every
/// precinct, code block and layer of the tile that it decodes, and for every channel of a palette. The headers of tiles
/// are looked at too, for each may state these anew. Reads headers alone: no pixel is decoded.
void check_jpeg_2000_structure(std::string_view bytes);

}  // namespace protocom::codec
