#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "base/error.h"
#include "base/name_in_code.h"
#include "base/text.h"
#include "datasets/detail/feature_parts.h"

namespace protocom::feature_parts {
namespace {

/// Code for a dict of the features [n, d] of each class, as few-shot repositories pickle them, or of features and
/// labels.
constexpr const char* kRecipe =
    "import {1}, numpy as np; d = {2}; l = d.get('labels', d.get('label')) if isinstance(d, "
    "dict) else None; "
    "f = d.get('features', d.get('data')) if l is not None else np.concatenate([np.asarray(v, 'f4') for v in "
    "d.values()]); "
    "np.savez('{0}', features=np.asarray(f, 'f4'), labels=np.asarray(l if l is not None else np.repeat([str(k) for k "
    "in "
    "d], [len(v) for v in d.values()])))";

void refuse_parquet(const std::filesystem::path& path) {
  const std::string named = name_in_code(path, "FILE.parquet");
  fail(
      "{} is Parquet, which is not supported; save it as npz: python3 -c \"import numpy as np, pandas as pd; t = "
      "pd.read_parquet('{}'); np.savez('{}', features=np.stack(t['embedding']), labels=t['label'].to_numpy(str))\", "
      "with its own column names (photos in Parquet are read in Python: protocom.Recognizer.create, test)",
      path.string(), named, std::filesystem::path(named).replace_extension(".npz").string());
}

}  // namespace

void refuse_pickle(const std::filesystem::path& path) {
  const std::string suffix = lowercase(path.extension().string());
  const auto is_one_of = [&suffix](std::initializer_list<std::string_view> known) {
    return std::find(known.begin(), known.end(), suffix) != known.end();
  };
  if (is_one_of({".parquet"})) refuse_parquet(path);
  const bool torch = is_one_of({".pt", ".pth"});
  if (!torch && !is_one_of({".pkl", ".pickle", ".plk", ".pk"})) return;
  const std::string named = name_in_code(path, torch ? "FILE.pt" : "FILE.pkl");
  const std::string load = torch ? fmt::format("torch.load('{}', map_location='cpu')", named)
                                 : fmt::format("pickle.load(open('{}', 'rb'))", named);
  const std::string target = std::filesystem::path(named).replace_extension(".npz").string();
  fail("{} is a Python pickle, which can run any code and is not supported; save it as npz: python3 -c \"{}\"",
       path.string(), fmt::format(fmt::runtime(kRecipe), target, torch ? "torch" : "pickle", load));
}

}  // namespace protocom::feature_parts
