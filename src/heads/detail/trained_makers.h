#pragma once
#include <memory>

#include "fewshot/method.h"

namespace protocom {

struct Am3Options;
struct Am3SemanticsOptions;
struct Am3TramlOptions;
struct CfaOptions;
struct CtmOptions;
struct FslktOptions;
struct MetaBaselineOptions;
struct RestoreNetOptions;
struct SRestoreNetOptions;
struct SemAlignOptions;
struct TriNetOptions;
struct VfslOptions;

}  // namespace protocom

/// Makers of the methods of heads/methods/, each from the options of its definition in fewshot/trained/.
namespace protocom::heads {

std::unique_ptr<Method> make_am3(const Am3SemanticsOptions& options);
std::unique_ptr<Method> make_am3_traml(const Am3TramlOptions& options);
std::unique_ptr<Method> make_cfa(const CfaOptions& options);
std::unique_ptr<Method> make_ctm(const CtmOptions& options);
std::unique_ptr<Method> make_fslkt(const FslktOptions& options);
std::unique_ptr<Method> make_meta_baseline(const MetaBaselineOptions& options);
std::unique_ptr<Method> make_multi_sem(const Am3Options& options);
std::unique_ptr<Method> make_restore_net(const RestoreNetOptions& options);
std::unique_ptr<Method> make_sem_align(const SemAlignOptions& options);
std::unique_ptr<Method> make_srestore_net(const SRestoreNetOptions& options);
std::unique_ptr<Method> make_tri_net(const TriNetOptions& options);
std::unique_ptr<Method> make_vfsl(const VfslOptions& options);

}  // namespace protocom::heads
