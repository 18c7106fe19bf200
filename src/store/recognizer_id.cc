#include "store/recognizer_id.h"

#include <fmt/format.h>

#include <random>

#include "base/error.h"
#include "store/detail/write_parts.h"

namespace protocom {

std::string new_recognizer_id() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::string recognizer_id(const RecognizerFile& file) {
  const nlohmann::json& details = file.header().details;
  const auto found = details.find(kRecognizerId);
  if (found == details.end() || !found->is_string()) fail("{}: the header is damaged: no id", file.path().string());
  return found->get<std::string>();
}

nlohmann::json without_id(const ArtefactHeader& header) {
  nlohmann::json rest = header.to_json();
  rest.at("details").erase(kRecognizerId);
  return rest;
}

}  // namespace protocom
