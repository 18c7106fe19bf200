#include "encoders/onnxruntime/graph_costs.h"

#include <algorithm>
#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <unordered_map>

#include "base/error.h"
#include "encoders/protobuf.h"

namespace protocom::onnxruntime {
namespace {

using protozero::pbf_reader;

/// The same limits as protocom's own reader.
constexpr size_t kMostNodes = 100'000;
constexpr double kMostCopied = int64_t{1} << 28;  // values

constexpr int kMostLevels = 100;  // of nested graphs

/// Field numbers, named after their message.
constexpr protozero::pbf_tag_type kModelGraph = 7, kModelFunction = 25;
constexpr protozero::pbf_tag_type kGraphNode = 1, kGraphInitializer = 5, kFunctionNode = 7;
constexpr protozero::pbf_tag_type kNodeInput = 1, kNodeOutput = 2, kNodeAttribute = 5;
constexpr protozero::pbf_tag_type kAttributeTensor = 5, kAttributeGraph = 6, kAttributeGraphs = 11;
constexpr protozero::pbf_tag_type kTensorDims = 1, kTensorName = 8;

/// Counts operators, including those in nested graphs, and the sizes of constants. Names are views of the file.
class Counter {
 public:
  void read_model(pbf_reader reader) {
    read_fields(reader, Field{kModelGraph, [&] { read_graph(read_message(reader), 0); }},
                Field{kModelFunction, [&] { read_function(read_message(reader)); }});
  }

  /// Number of values in the copies beyond the first of each constant.
  [[nodiscard]] double copied() const {
    double all = 0;
    for (const auto& [name, values] : constants_) {
      const auto found = uses_.find(name);
      if (found != uses_.end()) all += values * static_cast<double>(found->second - 1);
    }
    return all;
  }

 private:
  void read_graph(pbf_reader reader, int level) {
    if (level > kMostLevels) fail("its graphs are nested deeper than {} levels", kMostLevels);
    read_fields(reader, Field{kGraphNode, [&] { read_node(read_message(reader), level); }},
                Field{kGraphInitializer, [&] { read_tensor(read_message(reader), {}); }});
  }

  void read_function(pbf_reader reader) {
    read_fields(reader, Field{kFunctionNode, [&] { read_node(read_message(reader), 0); }});
  }

  void read_node(pbf_reader reader, int level) {
    count_one();
    std::string_view output;
    pbf_reader attributes = reader;
    read_fields(reader, Field{kNodeInput, [&] { ++uses_[read_view(reader)]; }},
                Field{kNodeOutput, [&] { output = read_view(reader); }});
    while (attributes.next(kNodeAttribute)) read_attribute(read_message(attributes), output, level);
  }

  void read_attribute(pbf_reader reader, std::string_view output, int level) {
    const auto read_inner = [&] { read_graph(read_message(reader), level + 1); };
    read_fields(reader, Field{kAttributeTensor, [&] { read_tensor(read_message(reader), output); }},
                Field{kAttributeGraph, read_inner}, Field{kAttributeGraphs, read_inner});
  }

  /// `name`: of the Constant operator that contains it; empty: the tensor's own.
  void read_tensor(pbf_reader reader, std::string_view name) {
    if (name.empty()) count_one();
    double values = 1;
    const auto add_size = [&](int64_t size) { values *= static_cast<double>(std::max<int64_t>(size, 0)); };
    const auto read_sizes = [&] {
      if (reader.has_wire_type(protozero::pbf_wire_type::length_delimited))
        for (const int64_t size : reader.get_packed_int64()) add_size(size);
      else
        add_size(read_integer(reader));
    };
    std::string_view own;
    read_fields(reader, Field{kTensorDims, read_sizes}, Field{kTensorName, [&] { own = read_view(reader); }});
    constants_[name.empty() ? own : name] += values;
  }

  void count_one() {
    if (++count_ > kMostNodes) fail("it has more than {} operators and tensors", kMostNodes);
  }

  std::unordered_map<std::string_view, double> constants_;  ///< values by name
  std::unordered_map<std::string_view, size_t> uses_;
  size_t count_ = 0;
};

}  // namespace

void check_graph_costs(std::string_view model) {
  Counter counter;
  try {
    counter.read_model(pbf_reader(model.data(), model.size()));
  } catch (const protozero::exception& error) {
    fail("it is not an ONNX file, or is cut off ({})", error.what());
  }
  if (counter.copied() > kMostCopied)
    fail("its operators share constants: a copy for each has {:.2g} values, expected at most {:.2g}", counter.copied(),
         kMostCopied);
}

}  // namespace protocom::onnxruntime
