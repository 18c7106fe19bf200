#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace protocom {

/// Small photos on one JPEG, row by row: one header for all takes a third of the space of a header for each.
struct PhotoSheet {
  std::string jpeg;     ///< square, in base64; "": there is no photo
  int64_t columns = 1;  ///< as many as rows
};

/// Makes a sheet of pictures in base64, "" for a missing one, which stays grey. Pictures that cannot be decoded count
/// as missing.
PhotoSheet photo_sheet(const std::vector<std::string>& pictures);

}  // namespace protocom
