#pragma once
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "protocom/export.h"

namespace protocom::v0 {

/// What a recognizer's file is opened for. kChange rolls back a change that a crash interrupted; kRead refuses such a
/// file, and never writes.
enum class FileUse { kRead, kChange };

/// How a recognizer answers.
struct RecognizerOptions {
  std::string method = {};  ///< "plda", "gauss-fusion:scale=20"; empty: the recognizer's own
  /// Images of one call are classified jointly; without a named method by the transductive one that uses the same
  /// fitted file.
  bool together = false;
  std::string device = "auto";  ///< of the encoder: "cpu", "cuda", "cuda:1"
  int64_t batch = 64;           ///< images per forward pass
  int64_t top = 5;              ///< classes of an answer
  int64_t nearest = 3;          ///< enrolled images of an answer
  int64_t attributes = 0;       ///< attributes of an answer; they take a few milliseconds per image
  /// Class proportions of the images of a call, for a method that takes them (plda-vb:proportions=given); unnamed
  /// classes share the rest equally.
  std::map<std::string, double> shares = {};
  /// Parameter of the transductive method: "estimate", "balanced" or "given"; empty: its default.
  std::string proportions = {};
  /// Answer::set holds the right class of new images of the classes with this probability, in (0, 1). By
  /// leave-one-out, once for each state of the classes. Nothing: no sets.
  std::optional<double> coverage = {};
  /// Least probability of an answer, in (0, 1): Answer::group is given if the first class has less. Nothing: never.
  std::optional<double> roll_up = {};
  std::chrono::seconds patience{60};  ///< how long a call waits for another process that changes the file
  FileUse use = FileUse::kChange;
};

}  // namespace protocom::v0

namespace protocom {
using v0::FileUse;
using v0::RecognizerOptions;
}  // namespace protocom
