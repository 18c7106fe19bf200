#include "store/calibration_json.h"

#include <cmath>
#include <vector>

#include "base/error.h"
#include "io/json.h"

namespace protocom {
namespace {

nlohmann::json to_json(const std::vector<Exchange>& exchange) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Exchange& item : exchange)
    rows.push_back({{"false_accept", item.false_accept}, {"accepted", item.accepted}, {"threshold", item.threshold}});
  return rows;
}

}  // namespace

nlohmann::json to_json(const Calibration& calibration) {
  return {{"method", calibration.method},       {"factor", calibration.factor},
          {"threshold", calibration.threshold}, {"false_accept", calibration.false_accept},
          {"accepted", calibration.accepted},   {"accuracy", calibration.accuracy},
          {"images", calibration.images},       {"unknown", calibration.unknown},
          {"classes", calibration.classes},     {"names", calibration.names},
          {"slope", calibration.slope},         {"balanced", calibration.balanced},
          {"similar", calibration.similar},     {"of_others", calibration.of_others},
          {"class_ids", calibration.class_ids}, {"exchange", to_json(calibration.exchange)}};
}

Calibration calibration_from(const nlohmann::json& stored, const std::string& where) {
  Calibration read;
  if (!stored.is_object())
    fail("{}: the calibration is damaged: expected an object, found {}", where, stored.type_name());
  try {
    stored.at("method").get_to(read.method);
    stored.at("factor").get_to(read.factor);
    stored.at("threshold").get_to(read.threshold);
    stored.at("false_accept").get_to(read.false_accept);
    stored.at("accepted").get_to(read.accepted);
    stored.at("accuracy").get_to(read.accuracy);
    read.images = whole_number<int64_t>(stored.at("images"));
    read.unknown = whole_number<int64_t>(stored.at("unknown"));
    read.classes = whole_number<int64_t>(stored.at("classes"));
    stored.at("names").get_to(read.names);
    stored.at("slope").get_to(read.slope);
    stored.at("balanced").get_to(read.balanced);
    stored.at("similar").get_to(read.similar);
    stored.at("of_others").get_to(read.of_others);
    stored.at("class_ids").get_to(read.class_ids);
    for (const nlohmann::json& item : stored.at("exchange"))
      read.exchange.push_back({item.at("false_accept"), item.at("accepted"), item.at("threshold")});
  } catch (const nlohmann::json::exception& error) {
    fail("{}: the calibration is damaged: {}", where, reason_of(error));
  }
  for (const double value : {read.factor, read.slope}) {
    if (!std::isfinite(value) || value <= 0 || !std::isfinite(read.threshold))
      fail("{}: the calibration is damaged: a factor of {}, a slope of {}, a threshold of {}", where, read.factor,
           read.slope, read.threshold);
  }
  std::vector<double> shares = {read.false_accept, read.accepted, read.accuracy};
  for (const Exchange& exchange : read.exchange)
    shares.insert(shares.end(), {exchange.false_accept, exchange.accepted});
  for (const double share : shares) {
    if (!(share >= 0 && share <= 1)) fail("{}: the calibration is damaged: a share of {}", where, share);
  }
  return read;
}

}  // namespace protocom
