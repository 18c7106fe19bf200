#include "datasets/standard_split.h"

#include "base/check.h"
#include "base/error.h"
#include "base/near_matches.h"

namespace protocom {

/// Returns the text of assets/splits/<stem>.csv, compiled in (cmake/ProtocomEmbed.cmake).
std::string_view embedded_split(std::string_view stem);

SplitTable standard_split(std::string_view name) {
  std::string_view text = embedded_split(name);
  if (text.empty()) {
    fail_usage("unknown standard split '{}': expected mini-imagenet or tiered-imagenet{}", name,
               did_you_mean(name, {"mini-imagenet", "tiered-imagenet"}));
  }
  SplitTable table;
  text.remove_prefix(text.find('\n') + 1);  // the header, class,split
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t comma = text.find(',');
    PROTOCOM_CHECK(comma < end && end != std::string_view::npos);
    table.emplace(text.substr(0, comma), parse_split(text.substr(comma + 1, end - comma - 1)));
    text.remove_prefix(end + 1);
  }
  return table;
}

}  // namespace protocom
