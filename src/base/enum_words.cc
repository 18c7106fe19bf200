#include "base/enum_words.h"

#include <fmt/ranges.h>

#include "base/error.h"

namespace protocom {

void fail_unknown_word(std::string_view what, std::string_view word, const std::vector<std::string_view>& known) {
  const std::string_view last = known.empty() ? "" : known.back();
  const std::vector<std::string_view> others(known.begin(), known.empty() ? known.end() : known.end() - 1);
  fail_usage("unknown {} '{}': expected {}{}{}", what, excerpt(word), fmt::join(others, ", "),
             others.empty() ? "" : " or ", last);
}

}  // namespace protocom
