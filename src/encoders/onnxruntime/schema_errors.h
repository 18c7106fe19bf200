#pragma once
#include <sstream>

namespace protocom::onnxruntime {

/// During its lifetime, std::cerr writes nothing; at the end the buffered output follows, except reports of operators
/// that are registered twice. Debian's ONNX Runtime registers the operators that its libonnx has already registered,
/// and prints over 500 such lines without any effect on results.
class SchemaErrors {
 public:
  SchemaErrors();
  ~SchemaErrors();
  SchemaErrors(const SchemaErrors&) = delete;
  SchemaErrors& operator=(const SchemaErrors&) = delete;

 private:
  std::ostringstream written_;
  std::streambuf* before_;
};

}  // namespace protocom::onnxruntime
