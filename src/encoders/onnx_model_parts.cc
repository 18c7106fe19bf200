#include "encoders/onnx_model_parts.h"

#include <functional>
#include <limits>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/error.h"
#include "encoders/onnx_file.h"
#include "encoders/protobuf.h"
#include "encoders/protobuf_copy.h"

namespace protocom::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

/// Field numbers, named after their message.
constexpr protozero::pbf_tag_type kPartGraph = 7, kPartTensor = 5, kPartOutput = 12, kPartValue = 13, kPartBytes = 9,
                                  kPartName = 8;

/// Writes the fields of a TensorProto.
using CopyTensor = std::function<void(pbf_reader tensor, pbf_writer& to)>;

void add_numbers(std::string_view bytes, pbf_writer& tensor) {
  tensor.add_bytes(kPartBytes, bytes.data(), bytes.size());
}

/// Copies a tensor without its numbers, which are returned, if they are external or raw bytes of at least `fewest`.
std::optional<std::string_view> copy_without_numbers(pbf_reader from, size_t fewest, TensorFiles& files,
                                                     pbf_writer& to) {
  const auto place = read_place(from);
  std::optional<std::string_view> numbers;
  if (place) numbers = files.bytes(place->location, place->offset, place->length);
  while (from.next()) {
    const auto tag = from.tag();
    if (place && is_place_field(tag)) {
      from.skip();
    } else if (tag == kPartBytes && !place) {
      const std::string_view bytes = read_view(from);
      if (bytes.size() < fewest)
        add_numbers(bytes, to);
      else
        numbers = bytes;
    } else {
      copy_field(from, to);
    }
  }
  return numbers;
}

/// Returns what the graph states about a value of that name, an output or an intermediate one: its type and shape.
/// Nothing if it states none.
std::optional<std::string_view> stated_of(pbf_reader graph, const std::string& name) {
  while (graph.next()) {
    if (graph.tag() != kPartOutput && graph.tag() != kPartValue) {
      graph.skip();
      continue;
    }
    const std::string_view stated = read_view(graph);
    pbf_reader value(stated.data(), stated.size());
    if (value.next(1) && read_view(value) == name) return stated;
  }
  return std::nullopt;
}

/// Copies a graph. `output`: the only output to keep; empty: all.
void copy_graph(pbf_reader from, const std::string& output, const CopyTensor& copy_tensor, pbf_writer to) {
  const std::optional<std::string_view> stated = output.empty() ? std::nullopt : stated_of(from, output);
  while (from.next()) {
    if (from.tag() == kPartTensor) {
      pbf_writer tensor(to, kPartTensor);
      copy_tensor(read_message(from), tensor);
    } else if (from.tag() == kPartOutput && !output.empty()) {
      from.skip();
    } else {
      copy_field(from, to);
    }
  }
  if (output.empty()) return;
  if (stated) return to.add_message(kPartOutput, stated->data(), stated->size());
  pbf_writer value(to, kPartOutput);
  value.add_string(1, output);
}

std::string copied_model(std::string_view bytes, const std::string& output, const CopyTensor& copy_tensor) {
  std::string written;
  pbf_writer to(written);
  for (pbf_reader model(bytes.data(), bytes.size()); model.next();) {
    if (model.tag() == kPartGraph)
      copy_graph(read_message(model), output, copy_tensor, pbf_writer(to, kPartGraph));
    else
      copy_field(model, to);
  }
  return written;
}

/// Returns the bytes of external tensors; nothing: all are inside.
std::optional<int64_t> bytes_outside(std::string_view bytes, TensorFiles& files) {
  std::optional<int64_t> all;
  for (pbf_reader model(bytes.data(), bytes.size()); model.next(kPartGraph);) {
    for (pbf_reader graph = read_message(model); graph.next(kPartTensor);) {
      if (const auto place = read_place(read_message(graph)))
        all = all.value_or(0) + static_cast<int64_t>(files.peek(place->location, place->offset, place->length).size());
    }
  }
  return all;
}

std::string name_of_tensor(pbf_reader tensor) { return tensor.next(kPartName) ? excerpt(tensor.get_string()) : ""; }

std::string with_all_inside(std::string_view bytes, const std::string& output, TensorFiles& files) {
  constexpr size_t kNone = std::numeric_limits<size_t>::max();  // internal ones stay where they are
  return copied_model(bytes, output, [&](const pbf_reader& tensor, pbf_writer& to) {
    if (const auto numbers = copy_without_numbers(tensor, kNone, files, to)) add_numbers(*numbers, to);
  });
}

/// Returns the place of bytes that are part of one of these files.
TensorPlace place_of(std::string_view part, const NamedFiles& files) {
  for (const auto& [name, all] : files) {
    const std::less_equal<> not_after;
    if (not_after(all.data(), part.data()) && not_after(part.data() + part.size(), all.data() + all.size()))
      return {name, static_cast<uint64_t>(part.data() - all.data()), part.size()};
  }
  fail("the bytes of a tensor are in none of its files");  // unreachable
}

}  // namespace

std::optional<std::string> self_contained(const std::filesystem::path& path, const std::string& output) {
  return as_onnx(path, [&]() -> std::optional<std::string> {
    const MappedFile file(path);
    TensorFiles files(path);
    if (output.empty() && !bytes_outside(file.bytes(), files)) return std::nullopt;
    return with_all_inside(file.bytes(), output, files);
  });
}

ModelParts::ModelParts(const std::filesystem::path& path, const std::string& output, int64_t most, int64_t most_of_one)
    : file_(path), beside_(path) {
  as_onnx(path, [&] {
    const std::string_view own = file_.bytes();
    const std::optional<int64_t> outside = bytes_outside(own, beside_);
    bytes_ = static_cast<int64_t>(own.size()) + outside.value_or(0);
    if (bytes_ <= most) {
      if (outside || !output.empty()) written_ = with_all_inside(own, output, beside_);
      return;
    }
    for (const auto& [name, all] : beside_.opened()) files_.emplace_back(name, all);
    files_.emplace_back(path.filename().string(), own);
    written_ = copied_model(own, output, [&](const pbf_reader& tensor, pbf_writer& to) {
      const auto numbers = copy_without_numbers(tensor, kFewestOutside, beside_, to);
      if (!numbers) return;
      if (static_cast<int64_t>(numbers->size()) > most_of_one)
        fail("its tensor '{}' has {:.3g} GB, but ONNX Runtime accepts at most {:.3g} GB: choose the engine torch",
             name_of_tensor(tensor), static_cast<double>(numbers->size()) / 1e9,
             static_cast<double>(most_of_one) / 1e9);
      if (numbers->size() < kFewestOutside)
        add_numbers(*numbers, to);
      else
        add_place(place_of(*numbers, files_), to);
    });
    if (static_cast<int64_t>(written_->size()) > most)
      fail("without its large tensors it has {:.1f} GB, expected at most {:.3g}",
           static_cast<double>(written_->size()) / 1e9, static_cast<double>(most) / 1e9);
  });
}

}  // namespace protocom::onnx
