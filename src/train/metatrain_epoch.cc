#include "train/metatrain_epoch.h"

namespace protocom {

using nlohmann::json;

MetatrainEpoch epoch_of(const EpochEnd& end, double scale) {
  MetatrainEpoch epoch{end.epoch, 0, 0, scale, {}};
  if (end.epoch > 0) {
    epoch.loss = end.sums.mean_loss();
    epoch.accuracy = end.sums.accuracy();
  }
  for (const MethodScores& scores : end.validation)
    epoch.validation.push_back({scores.method, estimate(scores.accuracy)});
  return epoch;
}

json to_json(const MetatrainEpoch& epoch) {
  json line = {{"epoch", epoch.epoch},
               {"loss", epoch.loss},
               {"accuracy", epoch.accuracy},
               {"scale", epoch.scale},
               {"validation", json::object()}};
  line["methods"] = json::array();  // an object does not keep their order
  for (const ValidationRow& row : epoch.validation) {
    line["methods"].push_back(row.method);
    line["validation"][row.method] = {{"accuracy", row.accuracy.value}, {"ci95", row.accuracy.ci95}};
  }
  return line;
}

MetatrainEpoch epoch_from(const json& line) {
  MetatrainEpoch epoch{line.at("epoch"), line.at("loss"), line.at("accuracy"), line.at("scale"), {}};
  for (const json& method : line.at("methods")) {
    const json& row = line.at("validation").at(method.get<std::string>());
    epoch.validation.push_back({method, {row.at("accuracy"), row.at("ci95")}});
  }
  return epoch;
}

}  // namespace protocom
