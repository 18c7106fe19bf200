#include "distributed/detail/torch_connection.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <cstring>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>
#ifdef PROTOCOM_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "base/error.h"
#include "distributed/detail/joining.h"

namespace protocom {
namespace {

constexpr std::chrono::milliseconds kPollInterval{2000};  // between two checks of the others while an operation waits
constexpr std::chrono::seconds kStoreLinger{5};           // at most: process 0 keeps the store for the others' queries

std::string loss_sentence(const std::vector<int>& lost, int size) {
  return fmt::format(
      "process {} of {} does not answer: it was killed or stopped, or its machine hangs; start all again, with any "
      "number of processes, a training with --resume",
      fmt::join(lost, ", "), size);
}

HeartbeatTimes heartbeat_times(const Launch& launch) {
  HeartbeatTimes times;
  times.silence = launch.silence;
  times.report_delay = std::min<std::chrono::milliseconds>(times.report_delay, launch.silence / 2);
  return times;
}

Heartbeat::OnLoss with_sentence(OnLoss on_loss, int size) {
  if (!on_loss) return {};
  return [report = std::move(on_loss), size](const std::vector<int>& lost) { report(loss_sentence(lost, size)); };
}

/// Returns the device where this process listens for the others: on the interface requested, as PyTorch's users do, or
/// that of the place where processes meet.
std::shared_ptr<gloo::transport::Device> own_device(const Launch& launch) {
  using c10d::ProcessGroupGloo;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != 0) return ProcessGroupGloo::createDeviceForInterface(interface);
  const std::vector<std::string> own = own_addresses(launch);
  return own.empty() ? ProcessGroupGloo::createDefaultDevice() : ProcessGroupGloo::createDeviceForHostname(own.front());
}

c10::intrusive_ptr<CollectiveEngine> open_gloo(const c10::intrusive_ptr<c10d::Store>& store, const Launch& launch) {
  auto options = c10d::ProcessGroupGloo::Options::create();
  options->devices.push_back(own_device(launch));
  return c10::make_intrusive<c10d::ProcessGroupGloo>(c10::make_intrusive<c10d::PrefixStore>("gloo", store), launch.rank,
                                                     launch.size, options);
}

c10::intrusive_ptr<CollectiveEngine> open_nccl([[maybe_unused]] const c10::intrusive_ptr<c10d::Store>& store,
                                               [[maybe_unused]] const Launch& launch) {
#ifdef PROTOCOM_NCCL
  if (at::hasCUDA()) {
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(c10::make_intrusive<c10d::PrefixStore>("nccl", store),
                                                       launch.rank, launch.size);
  }
#endif
  return {};
}

}  // namespace

TorchConnection::TorchConnection(const Launch& launch, OnLoss on_loss)
    : launch_(launch),
      store_(open_store(launch)),
      heartbeat_(open_second_store(launch), launch.rank, launch.size, with_sentence(std::move(on_loss), launch.size),
                 heartbeat_times(launch)) {
  wait_for_all(*store_, launch);
  cpu_ = open_gloo(store_, launch);
  cuda_ = open_nccl(store_, launch);
}

CollectiveEngine& TorchConnection::engine(c10::Device device) const {
  if (!device.is_cuda()) return *cpu_;
  if (!cuda_) fail("this LibTorch has no NCCL: several processes can only share CPUs");
  return *cuda_;
}

void TorchConnection::look_at_others() {
  std::vector<std::string> reasons;
  for (const auto& [rank, reason] : heartbeat_.failures())
    reasons.push_back(fmt::format("process {} of {} has failed: {}", rank, launch_.size, reason));
  const std::vector<int> lost = heartbeat_.lost();
  if (reasons.empty() && lost.empty()) return;
  broken_ = true;
  gone_ = lost;
  if (!reasons.empty()) fail("{}", fmt::join(reasons, "; "));
  fail("{}", loss_sentence(lost, launch_.size));
}

template <typename Work>
void TorchConnection::wait_for(Work& work) {
  for (;;) {
    try {
      work.wait(kPollInterval);
      return;
    } catch (const std::exception&) {
      if (work.isCompleted()) break;
    }
    look_at_others();
  }
  work.wait();  // finished: this throws its error, if any
}

template <typename Operation>
void TorchConnection::guard(Operation operation) {
  try {
    operation();
  } catch (const std::exception& error) {
    explain(error);
    throw;
  }
}

void TorchConnection::explain(const std::exception& error) {
  if (dynamic_cast<const Error*>(&error) != nullptr) return;
  const std::vector<int> gone = heartbeat_.find_gone();
  const auto failures = heartbeat_.failures();
  if (!failures.empty()) {
    fail("process {} of {} has failed: {}", failures.begin()->first, launch_.size, failures.begin()->second);
  }
  if (gone.empty()) return;
  gone_ = gone;
  fail(
      "process {} of {} ended unexpectedly (reported by process {}): start all again, in any number; continue a "
      "training with --resume",
      fmt::join(gone, ", "), launch_.size, launch_.rank);
}

void TorchConnection::sum(const at::Tensor& tensor) {
  guard([&] { start_sum(tensor)(); });
}

std::function<void()> TorchConnection::start_sum(const at::Tensor& tensor) {
  std::vector<at::Tensor> tensors = {tensor};
  auto work = engine(tensor.device()).allreduce(tensors);
  if (tensor.is_cuda()) return [work] { work->wait(); };  // on a GPU's stream: nothing waits here
  return [this, work] { wait_for(*work); };
}

void TorchConnection::broadcast(const at::Tensor& tensor) {
  // Gloo sends memory as it is: a channels-last tensor is sent as a contiguous copy.
  std::vector<at::Tensor> tensors = {tensor.contiguous()};
  guard([&] {
    const auto work = engine(tensor.device()).broadcast(tensors);
    if (tensor.is_cuda()) {
      work->wait();
    } else {
      wait_for(*work);
    }
  });
  if (!tensors.front().is_same(tensor)) tensor.copy_(tensors.front());
}

std::string TorchConnection::broadcast(const std::string& text) {
  const at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), at::kLong);
  broadcast(length);
  at::Tensor bytes = at::zeros({length.item<int64_t>()}, at::kByte);
  if (launch_.rank == 0) std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  if (bytes.numel() > 0) broadcast(bytes);
  return {bytes.data_ptr<uint8_t>(), bytes.data_ptr<uint8_t>() + bytes.numel()};
}

Array TorchConnection::gather_rows(const Array& rows) {
  const at::Tensor counts = at::zeros({launch_.size}, at::kLong);
  counts[launch_.rank] = rows.size(0);
  sum(counts);
  // Every process fills its rows of the whole, and the sum joins them: Gloo's own gather needs equal shares. The sum is
  // over bytes, which are 0 in all processes but one, so that numbers of any type are preserved.
  const at::Tensor ends = counts.cumsum(0);
  const auto end = ends[launch_.rank].item<int64_t>();
  Shape shape = rows.shape();
  shape[0] = ends[launch_.size - 1].item<int64_t>();
  Array all = Array::zeros(shape, rows.type());
  if (rows.numel() > 0) std::memcpy(all.rows(end - rows.size(0), end).mutable_raw(), rows.raw(), rows.bytes());
  if (all.numel() > 0) sum(at::from_blob(all.mutable_raw(), {static_cast<int64_t>(all.bytes())}, at::kByte));
  return all;
}

void TorchConnection::barrier() { sum(at::zeros({1})); }

void TorchConnection::announce_failure(const std::string& reason) {
  if (!broken_) heartbeat_.announce_failure(reason);
  // The store, where the others learn what happened, ends with process 0.
  heartbeat_.part(kStoreLinger, gone_);
}

void TorchConnection::leave() { heartbeat_.leave(); }

}  // namespace protocom
