#include "encoders/onnxruntime/session.h"

#include <cstring>
#include <utility>

#include "base/error.h"

namespace protocom::onnxruntime {
namespace {

constexpr int kDeviceAllocator = 0;  // OrtAllocatorType
constexpr int kDefaultMemory = 0;    // OrtMemType
constexpr size_t kMostDimensions = 8;

/// A pointer of the C API that is released by `Release`, a place of its table.
template <typename T, typename Release>
class Owned {
 public:
  Owned() = default;
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (pointer_ != nullptr) Library::get().call<Release>(pointer_);
  }
  [[nodiscard]] T* get() const { return pointer_; }
  T** out() { return &pointer_; }

 private:
  T* pointer_ = nullptr;
};

ElementType element_of(NumberType type) {
  if (type == NumberType::kFloat32) return kFloat;
  if (type == NumberType::kFloat16) return kFloat16;
  fail("images of type {} are not supported by ONNX Runtime: expected float32 or float16", to_string(type));
}

NumberType type_of(ElementType type) {
  if (type == kFloat) return NumberType::kFloat32;
  if (type == kFloat16) return NumberType::kFloat16;
  fail("its output has ONNX's type {}, expected float32 or float16", static_cast<int>(type));
}

Array array_of(const Library& library, Value* value) {
  Owned<TensorInfo, ReleaseTensorInfo> info;
  library.call<GetTensorInfo>(static_cast<const Value*>(value), info.out());
  const TensorInfo* known = info.get();
  ElementType type{};
  size_t dimensions = 0;
  library.call<GetElementType>(known, &type);
  library.call<GetDimensionsCount>(known, &dimensions);
  if (dimensions > kMostDimensions)
    fail("its output has {} dimensions, expected at most {}", dimensions, kMostDimensions);
  Shape shape(dimensions);
  library.call<GetDimensions>(known, shape.data(), dimensions);
  void* data = nullptr;
  library.call<GetTensorData>(value, &data);
  Array copy = Array::uninitialised(shape, type_of(type));
  if (copy.bytes() > 0) std::memcpy(copy.mutable_raw(), data, copy.bytes());
  return copy.to(NumberType::kFloat32);
}

}  // namespace

LoadedModel::LoadedModel(std::string_view model, int threads) : threads_(threads) {
  const Library& library = Library::get();
  Owned<SessionOptions, ReleaseSessionOptions> options;
  library.call<CreateSessionOptions>(options.out());
  library.call<SetIntraOpNumThreads>(options.get(), threads);
  library.call<SetInterOpNumThreads>(options.get(), 1);
  const auto set = [&](const char* key, const char* value) {
    library.call<AddSessionConfigEntry>(options.get(), key, value);
  };
  set("session.use_env_allocators", "1");       // those with a bound
  set("session.intra_op.allow_spinning", "0");  // others use the machine too
  Session* made = nullptr;
  library.call<CreateSessionFromArray>(static_cast<const Env*>(library.environment()),
                                       static_cast<const void*>(model.data()), model.size(),
                                       static_cast<const SessionOptions*>(options.get()), &made);
  session_.reset(made);
}

Array LoadedModel::run(const std::string& input, Array images, const std::string& output) const {
  const Library& library = Library::get();
  Owned<MemoryInfo, ReleaseMemoryInfo> memory;
  library.call<CreateCpuMemoryInfo>(kDeviceAllocator, kDefaultMemory, memory.out());
  Owned<Value, ReleaseValue> given;
  library.call<CreateTensorWithData>(static_cast<const MemoryInfo*>(memory.get()), images.mutable_raw(), images.bytes(),
                                     images.shape().data(), images.shape().size(), element_of(images.type()),
                                     given.out());
  Owned<Value, ReleaseValue> made;
  const char* input_name = input.c_str();
  const char* output_name = output.c_str();
  const Value* value = given.get();
  library.call<Run>(session_.get(), static_cast<const void*>(nullptr), static_cast<const char* const*>(&input_name),
                    static_cast<const Value* const*>(&value), size_t{1}, static_cast<const char* const*>(&output_name),
                    size_t{1}, made.out());
  return array_of(library, made.get());
}

}  // namespace protocom::onnxruntime
