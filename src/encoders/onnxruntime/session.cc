#include "encoders/onnxruntime/session.h"

#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.h"
#include "encoders/onnxruntime/graph_costs.h"
#include "encoders/onnxruntime/watched.h"

namespace protocom::onnxruntime {
namespace {

constexpr int kDeviceAllocator = 0;  // OrtAllocatorType
constexpr int kDefaultMemory = 0;    // OrtMemType
constexpr size_t kMostDimensions = 8;

/// The version 1.N of ONNX Runtime that introduced AddFilesInMemory.
constexpr int kFilesInMemorySince = 18;

/// Far more than an image takes: a vision transformer of 10^9 weights takes some seconds.
constexpr std::chrono::seconds kMostTime(60);
/// Allowance in addition to a multiple of the file's size (its parts, tensors, and packed weights).
constexpr int64_t kMostMemory = int64_t{3} << 30;
constexpr int64_t kMostCopies = 5;

/// A pointer of the C API that is released by `Release`, an entry of its table.
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

namespace {

void release(Session* session) { Library::get().call<ReleaseSession>(session); }

/// Passes the numbers of external tensors, which are copied when the session is created.
void add_files(const onnx::NamedFiles& files, SessionOptions* options) {
  if (files.empty()) return;
  const Library& library = Library::get();
  library.check_has(kFilesInMemorySince, "ONNX files of more than 2 GB");
  std::vector<const char*> names;
  std::vector<char*> buffers;
  std::vector<size_t> lengths;
  for (const auto& [name, bytes] : files) {
    names.push_back(name.c_str());
    buffers.push_back(const_cast<char*>(bytes.data()));  // the C API does not state that it only reads them
    lengths.push_back(bytes.size());
  }
  library.call<AddFilesInMemory>(options, static_cast<const char* const*>(names.data()),
                                 static_cast<char* const*>(buffers.data()), static_cast<const size_t*>(lengths.data()),
                                 names.size());
}

std::shared_ptr<Session> make_session(const onnx::ModelParts& model, const ThreadUse& threads) {
  const Library& library = Library::get();
  Owned<SessionOptions, ReleaseSessionOptions> options;
  library.call<CreateSessionOptions>(options.out());
  library.call<SetIntraOpNumThreads>(options.get(), threads.count);
  library.call<SetInterOpNumThreads>(options.get(), 1);
  const auto set = [&](const char* key, const char* value) {
    library.call<AddSessionConfigEntry>(options.get(), key, value);
  };
  set("session.use_env_allocators", "1");  // those with a limit
  // Two passes whose threads spin take twice the time on the same cores: elsewhere the machine has other work too.
  set("session.intra_op.allow_spinning", threads.spinning ? "1" : "0");
  set("session.force_spinning_stop", "1");  // after the pass
  add_files(model.files(), options.get());
  Session* made = nullptr;
  library.call<CreateSessionFromArray>(static_cast<const Env*>(library.environment()),
                                       static_cast<const void*>(model.graph().data()), model.graph().size(),
                                       static_cast<const SessionOptions*>(options.get()), &made);
  return {made, &release};
}

/// One pass of images through a network, with all data that its thread uses.
class Pass {
 public:
  Pass(std::shared_ptr<Session> session, std::string input, Array images, std::string output)
      : session_(std::move(session)), input_(std::move(input)), images_(std::move(images)), output_(std::move(output)) {
    const Library& library = Library::get();
    Owned<MemoryInfo, ReleaseMemoryInfo> memory;
    library.call<CreateCpuMemoryInfo>(kDeviceAllocator, kDefaultMemory, memory.out());
    library.call<CreateTensorWithData>(static_cast<const MemoryInfo*>(memory.get()), images_.mutable_raw(),
                                       images_.bytes(), images_.shape().data(), images_.shape().size(),
                                       element_of(images_.type()), given_.out());
    library.call<CreateRunOptions>(options_.out());
  }

  void run() {
    const char* input_name = input_.c_str();
    const char* output_name = output_.c_str();
    const Value* value = given_.get();
    Library::get().call<Run>(session_.get(), static_cast<const RunOptions*>(options_.get()),
                             static_cast<const char* const*>(&input_name), static_cast<const Value* const*>(&value),
                             size_t{1}, static_cast<const char* const*>(&output_name), size_t{1}, made_.out());
  }
  /// Stops before its next operator. Thread-safe.
  void stop() { Library::get().call<SetTerminate>(options_.get()); }
  [[nodiscard]] Array result() const { return array_of(Library::get(), made_.get()); }

 private:
  std::shared_ptr<Session> session_;
  std::string input_;
  Array images_;
  std::string output_;
  Owned<Value, ReleaseValue> given_;
  Owned<RunOptions, ReleaseRunOptions> options_;
  Owned<Value, ReleaseValue> made_;
};

}  // namespace

LoadedModel::LoadedModel(const std::shared_ptr<const onnx::ModelParts>& model, const ThreadUse& threads)
    : threads_(threads), most_memory_(kMostMemory + kMostCopies * model->bytes()) {
  check_graph_costs(model->graph());
  const auto made = std::make_shared<std::shared_ptr<Session>>();
  run_watched(
      "to prepare the network", {kMostTime, most_memory_},
      [model, threads, made] { *made = make_session(*model, threads); }, [] {});
  session_ = *made;
}

Array LoadedModel::run(const std::string& input, Array images, const std::string& output, bool watch_memory) const {
  const int64_t count = images.size(0);
  const auto pass = std::make_shared<Pass>(session_, input, std::move(images), output);
  run_watched(
      fmt::format("for {} image{}", count, count == 1 ? "" : "s"), {kMostTime * count, watch_memory ? most_memory_ : 0},
      [pass] { pass->run(); }, [&] { pass->stop(); });
  return pass->result();
}

std::shared_ptr<const LoadedModel> shared_model(const std::shared_ptr<const onnx::ModelParts>& model,
                                                const std::string& hash, const ThreadUse& threads) {
  static std::mutex mutex;
  static std::map<std::tuple<std::string, int, bool>, std::weak_ptr<const LoadedModel>> all;
  const std::lock_guard lock(mutex);
  for (auto one = all.begin(); one != all.end();) one = one->second.expired() ? all.erase(one) : std::next(one);
  std::weak_ptr<const LoadedModel>& known = all[{hash, threads.count, threads.spinning}];
  std::shared_ptr<const LoadedModel> found = known.lock();
  if (!found) known = found = std::make_shared<const LoadedModel>(model, threads);
  return found;
}

}  // namespace protocom::onnxruntime
