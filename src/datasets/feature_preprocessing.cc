#include "datasets/feature_preprocessing.h"

#include "io/artefact.h"
#include "io/npz.h"

namespace protocom {
namespace {

constexpr const char* kField = "preprocessing";

}  // namespace

std::optional<Preprocessing> read_preprocessing(const std::filesystem::path& path) {
  if (path.extension() == ".npy" || !NpzReader(path).has("header.json")) return std::nullopt;
  const ArtefactHeader header = read_any_header(path);
  if (!header.details.contains(kField)) return std::nullopt;
  return preprocessing_from(header.details.at(kField), path.string());
}

nlohmann::json preprocessing_details(const std::filesystem::path& features) {
  nlohmann::json details = nlohmann::json::object();
  if (const auto stated = read_preprocessing(features)) details[kField] = to_json(*stated);
  return details;
}

}  // namespace protocom
