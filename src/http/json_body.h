#pragma once
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "protocom/serve/describe_class.h"

namespace protocom::http {

/// The object that a body holds. Strict: throws HttpError 400 for what is no JSON object, a member that is not among
/// `known`, or one that stands there twice.
nlohmann::json parse_object(const std::string& body, const std::set<std::string>& known);

/// A member that has to be a text of 1 to 200 bytes without control characters. Throws HttpError 400.
std::string text_in(const nlohmann::json& object, const char* name);
/// A member that has to be a list of such texts, or of objects {"name": "tail", "weight": 0.5} with a weight in (0, 1],
/// 1 where none is said: into the attributes of a class and their weights.
void take_attributes(const nlohmann::json& object, const char* name, ClassRequest& to);

/// A member that has to be one feature of `dim` numbers, or a list of 1 to `most` of them: float32 [n, dim]. Throws
/// HttpError 400 for another shape, 413 for more.
struct FeatureShape {
  int64_t dim = 0;
  int64_t most = 0;
};
at::Tensor features_in(const nlohmann::json& object, const char* name, const FeatureShape& shape);

/// Throws HttpError 400 unless a label from a client is 1 to 200 bytes of UTF-8 without control characters; `what`
/// names it.
void check_label(const std::string& text, const std::string& what);

}  // namespace protocom::http
