#include "jobs/process_group.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>
#include <torch/version.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <utility>
#ifdef PROTOCOM_NCCL
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#endif

#include "base/check.h"
#include "base/error.h"
#include "base/log.h"
#include "jobs/detail/heartbeat.h"
#include "jobs/detail/joining.h"

namespace protocom {
namespace {

// LibTorch 2 divided the class that Gloo and NCCL came from.
#if TORCH_VERSION_MAJOR >= 2
using CollectiveEngine = c10d::Backend;
#else
using CollectiveEngine = c10d::ProcessGroup;
#endif

constexpr std::chrono::milliseconds kPollInterval{2000};  // between two looks at the others while an operation waits
constexpr std::chrono::seconds kStoreLinger{5};  // at most: process 0 keeps the store for the others' questions

std::string loss_sentence(const std::vector<int>& lost, int size) {
  return fmt::format(
      "process {} of {} has not answered for a while: it was killed or stopped, or its machine hangs; start all again, "
      "in any number, a training with --resume",
      fmt::join(lost, ", "), size);
}

HeartbeatTimes times_of(const Launch& launch) {
  HeartbeatTimes times;
  times.silence = launch.silence;
  times.last_word = std::min<std::chrono::milliseconds>(times.last_word, launch.silence / 2);
  return times;
}

Heartbeat::OnLoss with_sentence(ProcessGroup::OnLoss on_loss, int size) {
  if (!on_loss) return {};
  return [report = std::move(on_loss), size](const std::vector<int>& lost) { report(loss_sentence(lost, size)); };
}

/// Where this process listens for the others: at the interface asked for, as PyTorch's users do, or the one of the
/// place where processes meet.
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

struct ProcessGroup::Connection {
  Connection(const Launch& launch, OnLoss on_loss)
      : store(open_store(launch)),
        heartbeat(open_second_store(launch), launch.rank, launch.size, with_sentence(std::move(on_loss), launch.size),
                  times_of(launch)) {
    wait_for_all(*store, launch);
    cpu = open_gloo(store, launch);
    cuda = open_nccl(store, launch);
  }

  [[nodiscard]] CollectiveEngine& engine(c10::Device device) const {
    if (!device.is_cuda()) return *cpu;
    if (!cuda) fail("this LibTorch has no NCCL: several processes can only share CPUs");
    return *cuda;
  }

  /// Throws Error when others have failed, or are lost.
  void look_at_others(const Launch& launch) {
    std::vector<std::string> reasons;
    for (const auto& [rank, reason] : heartbeat.failures())
      reasons.push_back(fmt::format("process {} of {} has failed: {}", rank, launch.size, reason));
    const std::vector<int> lost = heartbeat.lost();
    if (reasons.empty() && lost.empty()) return;
    broken = true;
    gone = lost;
    if (!reasons.empty()) fail("{}", fmt::join(reasons, "; "));
    fail("{}", loss_sentence(lost, launch.size));
  }

  c10::intrusive_ptr<c10d::Store> store;
  Heartbeat heartbeat;
  bool broken = false;
  std::vector<int> gone;  // nobody waits for them any more
  c10::intrusive_ptr<CollectiveEngine> cpu;
  c10::intrusive_ptr<CollectiveEngine> cuda;  // null without GPUs
};

ProcessGroup::ProcessGroup(const Launch& launch, OnLoss on_loss) : launch_(launch) {
  if (is_single()) return;
  connection_ = std::make_unique<Connection>(launch, std::move(on_loss));
  barrier();
}

ProcessGroup::~ProcessGroup() {
  // Gloo's end would wait for the operation that was given up.
  if (broken()) static_cast<void>(connection_.release());
}

bool ProcessGroup::broken() const { return connection_ && connection_->broken; }

void ProcessGroup::announce_failure(const std::string& reason) const {
  if (is_single()) return;
  if (!broken()) connection_->heartbeat.announce_failure(reason);
  // The store, where the others learn what happened, ends with process 0.
  connection_->heartbeat.part(kStoreLinger, connection_->gone);
}

void ProcessGroup::leave() const {
  if (!is_single() && !broken()) connection_->heartbeat.leave();
}

template <typename Work>
void ProcessGroup::wait_for(Work& work) const {
  for (;;) {
    try {
      work.wait(kPollInterval);
      return;
    } catch (const std::exception&) {
      if (work.isCompleted()) break;
    }
    connection_->look_at_others(launch_);
  }
  work.wait();  // it is over: this throws what went wrong, if anything did
}

const ProcessGroup& ProcessGroup::single() {
  static const ProcessGroup kSingle{Launch()};
  return kSingle;
}

std::pair<int64_t, int64_t> ProcessGroup::share(int64_t count) const {
  const int64_t parts = launch_.size;
  return {count * launch_.rank / parts, count * (launch_.rank + 1) / parts};
}

void ProcessGroup::sum(at::Tensor tensor) const {
  if (is_single()) return;
  guard([&] { start_sum(tensor)(); });
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): what it refers to is changed in place
std::function<void()> ProcessGroup::start_sum(at::Tensor tensor) const {
  if (is_single()) return [] {};
  std::vector<at::Tensor> tensors = {tensor};
  auto work = connection_->engine(tensor.device()).allreduce(tensors);
  if (tensor.is_cuda()) return [work] { work->wait(); };  // on a GPU's stream: nothing waits here
  return [this, work] { wait_for(*work); };
}

void ProcessGroup::broadcast(at::Tensor tensor) const {
  if (is_single()) return;
  // Gloo sends memory as it lies: a channels-last tensor travels through a plain copy.
  std::vector<at::Tensor> tensors = {tensor.contiguous()};
  guard([&] {
    const auto work = connection_->engine(tensor.device()).broadcast(tensors);
    if (tensor.is_cuda()) {
      work->wait();
    } else {
      wait_for(*work);
    }
  });
  if (!tensors.front().is_same(tensor)) tensor.copy_(tensors.front());
}

std::string ProcessGroup::broadcast(const std::string& text) const {
  if (is_single()) return text;
  const at::Tensor length = at::full({1}, static_cast<int64_t>(text.size()), at::kLong);
  broadcast(length);
  at::Tensor bytes = at::zeros({length.item<int64_t>()}, at::kByte);
  if (is_main()) std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  if (bytes.numel() > 0) broadcast(bytes);
  return {bytes.data_ptr<uint8_t>(), bytes.data_ptr<uint8_t>() + bytes.numel()};
}

at::Tensor ProcessGroup::gather_rows(const at::Tensor& rows) const {
  if (is_single()) return rows;
  at::Tensor counts = at::zeros({launch_.size}, at::kLong);
  counts[launch_.rank] = rows.size(0);
  sum(counts);
  // Every process fills its rows of the whole, and the sum joins them: Gloo's own gather wants equal shares.
  const at::Tensor ends = counts.cumsum(0);
  auto shape = rows.sizes().vec();
  shape[0] = ends[launch_.size - 1].item<int64_t>();
  at::Tensor all = at::zeros(shape, rows.options());
  const int64_t end = ends[launch_.rank].item<int64_t>();
  all.slice(0, end - rows.size(0), end).copy_(rows);
  sum(all);
  return all;
}

void ProcessGroup::barrier() const {
  if (is_single()) return;
  sum(at::zeros({1}));
}

void ProcessGroup::explain(const std::exception& error) const {
  if (!connection_ || dynamic_cast<const Error*>(&error) != nullptr) return;
  const std::vector<int> gone = connection_->heartbeat.find_gone();
  const auto failures = connection_->heartbeat.failures();
  if (!failures.empty()) {
    fail("process {} of {} has failed: {}", failures.begin()->first, launch_.size, failures.begin()->second);
  }
  if (gone.empty()) return;
  connection_->gone = gone;
  fail("process {} of {} is gone: this is process {}; start all again, in any number, a training with --resume",
       fmt::join(gone, ", "), launch_.size, launch_.rank);
}

}  // namespace protocom
