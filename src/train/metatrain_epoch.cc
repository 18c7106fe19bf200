#include "train/metatrain_epoch.h"

namespace protocom {

using nlohmann::json;

double accuracy_of(const std::vector<ValidationRow>& rows, const std::string& method) {
  for (const ValidationRow& row : rows) {
    if (row.method == method) return row.accuracy.value;
  }
  return -1;
}

json to_json(const MetatrainEpoch& epoch) {
  json line = {{"epoch", epoch.epoch},
               {"loss", epoch.loss},
               {"accuracy", epoch.accuracy},
               {"scale", epoch.scale},
               {"validation", json::object()}};
  for (const ValidationRow& row : epoch.validation) {
    line["validation"][row.method] = {{"accuracy", row.accuracy.value}, {"ci95", row.accuracy.ci95}};
  }
  return line;
}

MetatrainEpoch epoch_from(const json& line) {
  MetatrainEpoch epoch{line.at("epoch"), line.at("loss"), line.at("accuracy"), line.at("scale"), {}};
  for (const auto& [method, row] : line.at("validation").items())
    epoch.validation.push_back({method, {row.at("accuracy"), row.at("ci95")}});
  return epoch;
}

}  // namespace protocom
