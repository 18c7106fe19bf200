#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace protocom::huggingface {

/// A checkpoint's tensors under their names, as a network of one family takes them.
class Weights {
 public:
  /// `tensors` may all begin with a prefix, which is what stands before `first`. Throws Error if none is called so.
  Weights(const std::map<std::string, at::Tensor>& tensors, std::string family, const std::string& first);

  /// A float32 copy of that name; `sizes` -1: any. Throws Error that names the key and the family where it is not
  /// there, of other sizes, or not finite.
  at::Tensor take(const std::string& name, const std::vector<int64_t>& sizes);
  /// The same, undefined if it is not there.
  at::Tensor take_if_there(const std::string& name, const std::vector<int64_t>& sizes);
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.count(prefix_ + name) > 0; }
  /// How many of BEGIN0END, BEGIN1END, ... there are.
  [[nodiscard]] int64_t count(const std::string& begin, const std::string& end) const;
  /// Throws Error for a key within the encoder that nothing has taken: features would be others. Those that begin with
  /// one of `others` are of heads and of other towers.
  void check_all_taken(const std::vector<std::string>& others) const;
  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  const std::map<std::string, at::Tensor>& tensors_;
  std::string family_;
  std::string prefix_;
  std::set<std::string> taken_;
};

/// The tensors, and zeros for biases that layers are without whose weights' names end with `end` (".key.weight").
std::map<std::string, at::Tensor> with_zero_biases(const std::map<std::string, at::Tensor>& tensors,
                                                   const std::string& end);

}  // namespace protocom::huggingface
