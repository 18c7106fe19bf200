#include "encoders/onnxruntime/schema_errors.h"

#include <iostream>
#include <string>

namespace protocom::onnxruntime {

SchemaErrors::SchemaErrors() : before_(std::cerr.rdbuf(written_.rdbuf())) {}

SchemaErrors::~SchemaErrors() {
  std::cerr.rdbuf(before_);
  std::istringstream lines(written_.str());
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.rfind("Schema error: Trying to register schema", 0) != 0) std::cerr << line << '\n';
  }
}

}  // namespace protocom::onnxruntime
