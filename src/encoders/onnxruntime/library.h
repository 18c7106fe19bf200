#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <type_traits>

/// ONNX Runtime's C API without its headers, which Debian 12 does not have: its functions are in a table (OrtApi) whose
/// entries never change their meaning, so the installed library is loaded when it is needed.
namespace protocom::onnxruntime {

// Opaque types of the C API; a null Status is success.
struct Status;
struct Env;
struct Session;
struct SessionOptions;
struct RunOptions;
struct Value;
struct MemoryInfo;
struct TensorInfo;
struct ArenaConfig;

/// ONNXTensorElementDataType, with the values of TensorProto.DataType.
enum ElementType : int { kFloat = 1, kFloat16 = 10 };

/// A function's index in OrtApi, with its type.
template <size_t Index, typename Function>
struct Place {
  using Type = Function;
  static constexpr size_t kIndex = Index;
};

using GetErrorMessage = Place<2, const char*(const Status*)>;
using CreateEnv = Place<3, Status*(int log_level, const char* name, Env**)>;
using DisableTelemetry = Place<6, Status*(const Env*)>;
using CreateSessionFromArray = Place<8, Status*(const Env*, const void*, size_t, const SessionOptions*, Session**)>;
using Run = Place<9, Status*(Session*, const RunOptions*, const char* const* input_names, const Value* const* inputs,
                             size_t, const char* const* output_names, size_t, Value** outputs)>;
using CreateSessionOptions = Place<10, Status*(SessionOptions**)>;
using SetIntraOpNumThreads = Place<24, Status*(SessionOptions*, int)>;
using SetInterOpNumThreads = Place<25, Status*(SessionOptions*, int)>;
using CreateRunOptions = Place<39, Status*(RunOptions**)>;
using SetTerminate = Place<46, Status*(RunOptions*)>;
using CreateTensorWithData = Place<49, Status*(const MemoryInfo*, void* data, size_t bytes, const int64_t* shape,
                                               size_t dimensions, ElementType, Value**)>;
using GetTensorData = Place<51, Status*(Value*, void**)>;
using GetElementType = Place<60, Status*(const TensorInfo*, ElementType*)>;
using GetDimensionsCount = Place<61, Status*(const TensorInfo*, size_t*)>;
using GetDimensions = Place<62, Status*(const TensorInfo*, int64_t*, size_t)>;
using GetTensorInfo = Place<65, Status*(const Value*, TensorInfo**)>;
using CreateCpuMemoryInfo = Place<69, Status*(int allocator, int memory, MemoryInfo**)>;
using ReleaseStatus = Place<93, void(Status*)>;
using ReleaseMemoryInfo = Place<94, void(MemoryInfo*)>;
using ReleaseSession = Place<95, void(Session*)>;
using ReleaseValue = Place<96, void(Value*)>;
using ReleaseRunOptions = Place<97, void(RunOptions*)>;
using ReleaseTensorInfo = Place<99, void(TensorInfo*)>;
using ReleaseSessionOptions = Place<100, void(SessionOptions*)>;
using AddSessionConfigEntry = Place<130, Status*(SessionOptions*, const char* key, const char* value)>;
using CreateAndRegisterAllocator = Place<144, Status*(Env*, const MemoryInfo*, const ArenaConfig*)>;
using ReleaseArenaConfig = Place<157, void(ArenaConfig*)>;
using CreateArenaConfig = Place<164, Status*(const char* const* keys, const size_t* values, size_t, ArenaConfig**)>;
using AddFilesInMemory =
    Place<279, Status*(SessionOptions*, const char* const* names, char* const* buffers, const size_t* lengths, size_t)>;

/// The library, loaded at the first use in a process and never unloaded.
class Library {
 public:
  /// Loads the library. Thread-safe. Throws Error that says where it was searched and how to install it.
  static const Library& get();
  /// Whether it is available: loads it.
  static bool is_there();
  /// Sets the first place to search, from the next use on if none is loaded yet: a file or the folder that contains it.
  static void prefer(const std::filesystem::path& place);

  /// "1.21.0".
  [[nodiscard]] const std::string& version() const { return version_; }
  /// Throws Error unless its version is at least 1.`minor`. `what`: the feature that needs it.
  void check_has(int minor, const std::string& what) const;
  /// The environment shared by sessions, with limited memory: a file that needs more fails.
  [[nodiscard]] Env* environment() const { return environment_; }

  /// Calls a function of the table. If it returns an error Status, throws Error with its message.
  template <typename Function, typename... Arguments>
  void call(Arguments... arguments) const {
    using Type = typename Function::Type;
    const auto function = reinterpret_cast<Type*>(table_[Function::kIndex]);
    if constexpr (std::is_void_v<std::invoke_result_t<Type*, Arguments...>>)
      function(arguments...);
    else
      check(function(arguments...));
  }

 private:
  explicit Library(void* handle);
  static const Library* loaded();
  void check(Status* status) const;
  void make_environment();

  void* const* table_ = nullptr;
  std::string version_;
  Env* environment_ = nullptr;
};

}  // namespace protocom::onnxruntime
