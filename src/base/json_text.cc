#include "base/json_text.h"

#include <nlohmann/json.hpp>

namespace protocom {

std::string json_text(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string strict_json_text(const nlohmann::json& value) { return value.dump(); }

nlohmann::json json_from_text(std::string_view text) {
  return nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace protocom
