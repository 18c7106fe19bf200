#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace protocom {

/// Small photos on one JPEG, row by row: a header for all of them is a third of what one for each takes.
struct PhotoSheet {
  std::string jpeg;     ///< square, in base64; "": there is no photo
  int64_t columns = 1;  ///< as many as rows
};

/// Of pictures in base64, "" for one that is missing, which stays grey. Pictures that cannot be decoded count as
/// missing.
PhotoSheet photo_sheet(const std::vector<std::string>& pictures);

}  // namespace protocom
