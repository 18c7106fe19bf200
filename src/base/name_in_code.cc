#include "base/name_in_code.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace protocom {

std::string name_in_code(const std::filesystem::path& path, const char* instead) {
  constexpr std::string_view kSafe = " ._-+=,@/";
  std::string name = path.string();
  const bool safe = std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return (c < 0x80 && std::isalnum(c) != 0) || kSafe.find(static_cast<char>(c)) != std::string_view::npos;
  });
  return safe ? name : instead;
}

}  // namespace protocom
