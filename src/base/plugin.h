#pragma once
#include <atomic>
#include <string>
#include <utility>

namespace protocom {

/// Loads the library that uses LibTorch (libprotocom-torch.so), once per process: it lies beside this library and
/// provides its functions while it loads. Does nothing if it is loaded already or linked into the program. Thread-safe.
/// Throws Error with `purpose` ("an encoder"), where it was searched for, and the loader's own reason.
void load_torch_plugin(const std::string& purpose);

/// Whether the library is available: loads it. load_torch_plugin throws the reason if not.
[[nodiscard]] bool has_torch_plugin();

/// Whether it is loaded; loads nothing.
[[nodiscard]] bool torch_plugin_is_loaded();

/// Called by the plug-in when it has provided its functions, loaded or linked into the program, so that it is no longer
/// searched for.
void torch_plugin_provides();

/// Throws the Error for a plug-in that was loaded but does not provide a function.
[[noreturn]] void refuse_unprovided(const std::string& purpose);

/// A function of the core that is implemented in a plug-in. The plug-in provides it when it is loaded; a call loads the
/// plug-in if nothing has been provided yet, so that processes that never call it never load LibTorch.
///
///   PluginFunction<int64_t(int64_t)> doubled("doubling");   // in the core, an object of static storage
///   doubled.provide([](int64_t x) { return 2 * x; });       // in the plug-in
///   doubled(21);                                            // anywhere
template <typename Signature>
class PluginFunction;

template <typename Result, typename... Arguments>
class PluginFunction<Result(Arguments...)> {
 public:
  using Function = Result (*)(Arguments...);

  /// `purpose` completes the message "... needs LibTorch" without a plug-in. Initialised before any code runs, so that
  /// static objects of a plug-in may provide it.
  explicit constexpr PluginFunction(const char* purpose) : purpose_(purpose) {}

  void provide(Function function) { function_ = function; }

  /// Throws what load_torch_plugin and the function throw.
  Result operator()(Arguments... arguments) const {
    if (function_ == nullptr) load_torch_plugin(purpose_);
    const Function function = function_;
    if (function == nullptr) refuse_unprovided(purpose_);
    return function(std::forward<Arguments>(arguments)...);
  }

 private:
  const char* purpose_;
  std::atomic<Function> function_{nullptr};  // one thread may load the plug-in while another calls
};

}  // namespace protocom
