#include "base/uuid.h"

#include <algorithm>
#include <cctype>

namespace protocom {

bool is_uuid(std::string_view text) {
  constexpr std::string_view kForm = "00000000-0000-0000-0000-000000000000";
  return text.size() == kForm.size() && std::equal(text.begin(), text.end(), kForm.begin(), [](char one, char form) {
           return form == '-' ? one == '-' : std::isxdigit(static_cast<unsigned char>(one)) != 0;
         });
}

}  // namespace protocom
