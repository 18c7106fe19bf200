#include "encoders/onnxruntime/encoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/matrix.h"
#include "base/threads.h"
#include "encoders/chosen_preprocessing.h"
#include "encoders/output_checks.h"
#include "io/files.h"

namespace protocom::onnxruntime {
namespace {

constexpr float kSameFeatures = 1e-3F;  // relative to the largest: batches sum in another order

/// Pixels per pass: with more, maps leave the caches, and memory grows.
constexpr int64_t kPixelsAPass = int64_t{64} * 64 * 64;

/// Limit for a graph with a fixed batch, which computes the whole batch even for one image: it bounds the memory that a
/// file can request.
constexpr int64_t kLargestBatch = 256;

/// Networks kept by an encoder for different uses of threads: those of a server depend on how many lanes work.
constexpr size_t kKeptModels = 4;

std::string hash_of(const onnx::ModelParts& parts) {
  std::string all = hash_bytes(parts.graph());
  for (const auto& [name, bytes] : parts.files()) all += name + hash_bytes(bytes);
  return all;
}

/// Returns the normalised value of each of the 256 levels of a channel: (x / 255 - mean) / std.
template <typename T>
std::array<std::array<T, 256>, 3> normalised_values(const Preprocessing& preprocessing) {
  std::array<std::array<T, 256>, 3> values{};
  for (size_t channel = 0; channel < 3; ++channel) {
    const bool any = preprocessing.normalises();
    const float mean = any ? static_cast<float>(preprocessing.mean[channel]) : 0.0F;
    const float std = any ? static_cast<float>(preprocessing.std[channel]) : 1.0F;
    for (size_t x = 0; x < 256; ++x)
      values[channel][x] = static_cast<T>((static_cast<float>(x) * (1.0F / 255.0F) - mean) / std);
  }
  return values;
}

/// Converts uint8 [n, h, w, 3] to a graph's input: [n, 3, h, w], or the same layout.
template <typename T>
Array normalised(const Array& pixels, const Preprocessing& preprocessing, bool channels_last) {
  const int64_t n = pixels.size(0);
  const int64_t height = pixels.size(1);
  const int64_t width = pixels.size(2);
  const int64_t plane = height * width;
  const Shape shape = channels_last ? pixels.shape() : Shape{n, 3, height, width};
  Array made = Array::uninitialised(shape, NumberTypeOf<T>::kType);
  const auto values = normalised_values<T>(preprocessing);
  for (int64_t i = 0; i < n; ++i) {
    const uint8_t* from = pixels.data<uint8_t>() + i * plane * 3;
    T* to = made.mutable_data<T>() + i * plane * 3;
    for (int64_t place = 0; place < plane; ++place) {
      for (int64_t channel = 0; channel < 3; ++channel) {
        const T value = values[static_cast<size_t>(channel)][from[place * 3 + channel]];
        to[channels_last ? place * 3 + channel : channel * plane + place] = value;
      }
    }
  }
  return made;
}

/// Returns the mean over the middle axis of [n, a, d], or over the last of [n, d, a] with `last`.
Array mean_of(const Array& values, bool last) {
  const int64_t n = values.size(0);
  const int64_t rows = values.size(1);
  const int64_t columns = values.size(2);
  Array made = Array::uninitialised({n, last ? rows : columns}, NumberType::kFloat32);
  for (int64_t i = 0; i < n; ++i) {
    const Eigen::Map<const FloatMatrix> all(values.data<float>() + i * rows * columns, rows, columns);
    float* to = made.mutable_data<float>() + i * made.size(1);
    if (last)
      Eigen::Map<Eigen::VectorXf>(to, rows) = all.rowwise().mean();
    else
      Eigen::Map<Eigen::RowVectorXf>(to, columns) = all.colwise().mean();
  }
  return made;
}

/// Returns row `place` of each [a, d].
Array row_of_each(const Array& values, int64_t place) {
  std::vector<Array> rows;
  for (int64_t i = 0; i < values.size(0); ++i) rows.push_back(values.row(i).rows(place, place + 1));
  return Array::joined(rows);
}

/// Makes features [n, d] from an output: averages maps over positions; from tokens takes the class token if there is
/// one, else their mean.
Array pooled(const Array& output, bool channels_last) {
  const Shape& shape = output.shape();
  if (shape.size() == 2) return output;
  if (shape.size() == 4 && channels_last)
    return mean_of(output.reshaped({shape[0], shape[1] * shape[2], shape[3]}), false);
  if (shape.size() == 4) return mean_of(output.reshaped({shape[0], shape[1], shape[2] * shape[3]}), true);
  if (shape.size() == 3 && onnx::have_class_token(shape[1])) return row_of_each(output, 0);
  if (shape.size() == 3) return mean_of(output, false);
  if (shape.size() == 1) return output.reshaped({1, shape[0]});  // one image whose batch axis was dropped
  refuse_shape_of_output(shape);
}

/// Returns [n, a, b] with the last two axes exchanged.
Array exchanged(const Array& values) {
  const int64_t rows = values.size(1);
  const int64_t columns = values.size(2);
  Array made = Array::uninitialised({values.size(0), columns, rows}, NumberType::kFloat32);
  for (int64_t i = 0; i < values.size(0); ++i) {
    const int64_t start = i * rows * columns;
    Eigen::Map<FloatMatrix>(made.mutable_data<float>() + start, columns, rows) =
        Eigen::Map<const FloatMatrix>(values.data<float>() + start, rows, columns).transpose();
  }
  return made;
}

/// Returns maps [n, c, h', w'] from an output of maps, or of tokens of a square's positions.
Array maps_of(const Array& output, bool channels_last, const std::string& name) {
  const Shape& shape = output.shape();
  if (shape.size() == 4 && !channels_last) return output;
  if (shape.size() == 4)
    return exchanged(output.reshaped({shape[0], shape[1] * shape[2], shape[3]}))
        .reshaped({shape[0], shape[3], shape[1], shape[2]});
  const int64_t first = shape.size() == 3 && onnx::have_class_token(shape[1]) ? 1 : 0;
  const int64_t side = shape.size() == 3 ? std::lround(std::sqrt(static_cast<double>(shape[1] - first))) : 0;
  if (shape.size() != 3 || side * side != shape[1] - first) refuse_maps_of_output(name, shape);
  std::vector<Array> places;
  for (int64_t i = 0; i < shape[0]; ++i)
    places.push_back(output.row(i).rows(first, shape[1]).reshaped({1, side * side, shape[2]}));
  return exchanged(Array::joined(places)).reshaped({shape[0], shape[2], side, side});
}

/// Returns uint8 [2, size, size, 3] for a trial of a network.
Array trial_pixels(int64_t size) {
  Array pixels = Array::uninitialised({2, size, size, 3}, NumberType::kUInt8);
  for (int64_t i = 0; i < pixels.numel(); ++i)
    pixels.mutable_data<uint8_t>()[i] = static_cast<uint8_t>(127.5 + 127.0 * std::sin(static_cast<double>(i)));
  return pixels;
}

bool same(const Array& a, const Array& b) {
  if (a.shape() != b.shape()) return false;
  const Eigen::Map<const Eigen::ArrayXf> first(a.data<float>(), a.numel());
  const Eigen::Map<const Eigen::ArrayXf> second(b.data<float>(), b.numel());
  return (first - second).abs().maxCoeff() <= kSameFeatures * second.abs().maxCoeff();
}

}  // namespace

OnnxEncoder::OnnxEncoder(const std::filesystem::path& path, const EncoderFileOptions& asked) : path_(path) {
  reading(path, [&] {
    const onnx::Outline outline = onnx::read_outline(path);
    output_ = asked.output.empty() ? onnx::feature_output(outline.outputs) : asked.output;
    input_ = onnx::image_input(outline.inputs, output_);
    if (input_.batch > kLargestBatch)
      fail("fixed batch of {} images, expected at most {}: export it with a dynamic batch, or use --engine torch",
           input_.batch, kLargestBatch);
    parts_ = std::make_shared<const onnx::ModelParts>(path, asked.output);
    hash_ = hash_of(*parts_);
    const std::string where = path.string();
    const Preprocessing said = fitting_side(asked.preprocessing.value_or(Preprocessing()), input_.side, where);
    preprocessing_ = choose_preprocessing(said, outline.stated, 0, where);
    check_image_size(preprocessing_.image_size);
    dim_ = features(trial_pixels(preprocessing_.image_size).rows(0, 1)).size(1);
  });
}

void OnnxEncoder::prepare(const EncoderTarget& place) {
  if (place.device != "auto" && place.device != "cpu")
    fail_usage("ONNX Runtime runs encoders on the CPU: use --engine torch for --device {}", place.device);
  if (place.precision == Precision::kBFloat16)
    fail_usage("ONNX Runtime computes in the file's own precision: use --engine torch for --precision bfloat16");
}

const LoadedModel& OnnxEncoder::model() {
  const int count = thread_count();
  const ThreadUse use{count, count > 1 && may_spin()};
  const auto known =
      std::find_if(models_.begin(), models_.end(), [&](const auto& model) { return model->threads() == use; });
  if (known != models_.end()) {
    std::rotate(models_.begin(), known, known + 1);
  } else {
    models_.insert(models_.begin(), shared_model(parts_, hash_, use));
    if (models_.size() > kKeptModels) models_.pop_back();
  }
  return *models_.front();
}

bool OnnxEncoder::takes_many(const Array& two) {
  try {
    const Array each = Array::joined({output_of_some(two.rows(0, 1)), output_of_some(two.rows(1, 2))});
    return same(output_of_some(two), each);
  } catch (const Error& error) {
    logger().debug("a batch fails: {}", error.what());
    return false;
  }
}

/// Returns how many images a pass takes: one if the output for two images differs from that for each.
int64_t OnnxEncoder::images_a_pass(const Array& pixels) {
  if (input_.batch > 0) return input_.batch;
  if (pixels.size(0) == 1) return 1;
  if (!takes_many_) {
    takes_many_ = takes_many(trial_pixels(pixels.size(1)));
    if (!*takes_many_)
      logger().info("the network processes one image at a time, which is slower: export it with a dynamic batch");
  }
  return *takes_many_ ? std::max<int64_t>(1, kPixelsAPass / (pixels.size(1) * pixels.size(2))) : 1;
}

Array OnnxEncoder::output_of_some(const Array& pixels) {
  const Array images = input_.type == kFloat16 ? normalised<Eigen::half>(pixels, preprocessing_, input_.channels_last)
                                               : normalised<float>(pixels, preprocessing_, input_.channels_last);
  Array made = model().run(input_.name, images, output_, dim_ == 0);
  if (made.dim() == 1) made = made.reshaped({1, made.size(0)});
  if (made.dim() < 1 || made.size(0) != pixels.size(0)) refuse_count_of_output(made.shape(), pixels.size(0));
  return made;
}

Array OnnxEncoder::output(const Array& pixels) {
  const int64_t pass = images_a_pass(pixels);
  std::vector<Array> parts;
  for (int64_t begin = 0; begin < pixels.size(0); begin += pass) {
    const int64_t end = std::min(begin + pass, pixels.size(0));
    if (input_.batch == 0 || end - begin == pass) {
      parts.push_back(output_of_some(pixels.rows(begin, end)));
    } else {  // fixed batch: the last images are repeated
      std::vector<int64_t> rows(static_cast<size_t>(pass), end - 1);
      for (int64_t i = begin; i < end; ++i) rows[static_cast<size_t>(i - begin)] = i;
      parts.push_back(output_of_some(pixels.gathered(rows)).rows(0, end - begin));
    }
  }
  return Array::joined(parts);
}

Array OnnxEncoder::features(const Array& pixels) {
  return reading(path_, [&] {
    Array made = pooled(output(pixels), input_.channels_last);
    if (dim_ == 0)
      check_trial_is_finite(matrix_of<float>(made).allFinite());
    else
      check_feature_length(made.size(1), pixels.size(1), dim_, image_size());
    return made;
  });
}

Array OnnxEncoder::maps(const Array& pixels) {
  return reading(path_,
                 [&] { return maps_of(output(pixels), input_.channels_last, output_).to(NumberType::kFloat16); });
}

}  // namespace protocom::onnxruntime
