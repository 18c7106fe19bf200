#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/array.h"
#include "http/detail/message.h"
#include "protocom/answer.h"

namespace protocom::http {

/// Requests and responses of the Open Inference Protocol, version 2 (KServe, Triton, MLServer), in JSON:
/// https://github.com/kserve/open-inference-protocol. Its binary tensors are an extension, which this server does not
/// list in its `extensions`.

/// The content of a request.
struct InferenceRequest {
  nlohmann::json id;                 ///< returned unchanged; null without one
  std::vector<std::string> outputs;  ///< names of the tensors to return; empty: all
  int64_t top = 0;                   ///< number of classes in the tensors `classes` and `probabilities`
  nlohmann::json images;             ///< files as base64, from the input `image`; null for features
  Array features;                    ///< float32 [n, d], from the input `features`; undefined for images
};

/// Reads the body of a request, which has one input: `image`, BYTES [n], or `features`, FP32 [n, dim] or [dim], at most
/// `most` of them. `top`: the number of classes if the request's parameters do not state it; `most_top`: its limit.
/// Throws HttpError 400 that names the wrong member, 413 for more than `most` features.
InferenceRequest read_inference_request(const nlohmann::json& body, int64_t dim, int64_t most, int64_t top,
                                        int64_t most_top);

/// Returns the response, with these tensors for n inputs: `label` BYTES [n], the most probable class; `probability`
/// FP32 [n], its probability; each of answer_fields() [n], 0 or false if it is unknown; `classes` BYTES [n, k] and
/// `probabilities` FP32 [n, k], the most probable classes first.
nlohmann::json inference_response(const InferenceRequest& request, const std::string& model,
                                  const std::vector<Answer>& answers);

/// Returns the metadata of a model: its inputs, for features of `dim` numbers, and outputs. -1: any size.
nlohmann::json inference_metadata(const std::string& model, int64_t dim);

/// Whether a request's target is /v2 or below it, for use before there is a route.
bool is_of_inference(std::string_view target);

/// Returns an error in the form of the protocol: {"error": "the message"}. Other responses are returned unchanged.
Response in_form_of_inference(Response response);

}  // namespace protocom::http
