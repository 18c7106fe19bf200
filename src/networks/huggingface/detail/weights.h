#pragma once
#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace protocom::huggingface {

/// A checkpoint's tensors by name, as read by a network of one family.
class Weights {
 public:
  /// `tensors` may all begin with a prefix, the part of a name before `first`. Throws Error if no name contains that.
  Weights(const std::map<std::string, at::Tensor>& tensors, std::string family, const std::string& first);

  /// Returns a float32 copy of a tensor; `sizes` -1: any. Throws Error that names the key and the family if it is
  /// missing, of other sizes, or not finite.
  at::Tensor take(const std::string& name, const std::vector<int64_t>& sizes);
  /// Does so, but returns undefined if it is missing.
  at::Tensor take_if_there(const std::string& name, const std::vector<int64_t>& sizes);
  [[nodiscard]] bool has(const std::string& name) const { return tensors_.count(prefix_ + name) > 0; }
  /// Returns how many of BEGIN0END, BEGIN1END, ... exist.
  [[nodiscard]] int64_t count(const std::string& begin, const std::string& end) const;
  /// Throws Error for an unused key of the encoder, since features would differ. Keys that begin with one of `others`
  /// belong to heads and to other towers.
  void check_all_taken(const std::vector<std::string>& others) const;
  [[nodiscard]] const std::string& family() const { return family_; }
  [[nodiscard]] const std::string& prefix() const { return prefix_; }

 private:
  const std::map<std::string, at::Tensor>& tensors_;
  std::string family_;
  std::string prefix_;
  std::set<std::string> taken_;
};

/// Returns the tensors, with zeros for missing biases of layers whose weights' names end with `end` (".key.weight").
std::map<std::string, at::Tensor> with_zero_biases(const std::map<std::string, at::Tensor>& tensors,
                                                   const std::string& end);

}  // namespace protocom::huggingface
