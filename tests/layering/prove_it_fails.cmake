# Plants one violation at a time in a tree of its own and expects check_layering.cmake to name its file and line, and
# check_links.cmake the module that links another than it includes.
#   cmake -D FOLDER=<where the checks are> -D WORK=<folder to use> -P prove_it_fails.cmake
cmake_minimum_required(VERSION 3.25)

# expect(RESULT MESSAGE FILE CONTENT): the check gives RESULT (0 or 1) and, for 1, prints MESSAGE, when FILE holds CONTENT.
function(expect result message file content)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/${file} "${content}")
  expect_of(check_layering.cmake ${result} "${message}")
endfunction()

# expect_of(CHECK RESULT MESSAGE): the same for a check of what the tree holds.
function(expect_of check result message)
  execute_process(COMMAND ${CMAKE_COMMAND} -D ROOT=${WORK} -P ${FOLDER}/${check} RESULT_VARIABLE found OUTPUT_VARIABLE output ERROR_VARIABLE output)
  string(FIND "${output}" "${message}" position)
  if(NOT found EQUAL result OR position EQUAL -1)
    file(GLOB_RECURSE planted RELATIVE ${WORK} ${WORK}/*)
    message(FATAL_ERROR "${check} of ${planted} should give exit ${result} and '${message}', gave exit ${found} and\n${output}")
  endif()
endfunction()

expect(1 "src/base/a.cc:2: images lies above base" src/base/a.cc "// up\n#include \"images/image.h\"\n")
expect(1 "src/io/a.cc:1: io and jobs are neighbours" src/io/a.cc "#include \"jobs/launch.h\"\n")
expect(1 "src/eval/a.h:3: train lies above eval" src/eval/a.h "int a[2]; // ] ;\nint b;\\\n#include <train/pretrain.h>\n")
expect(1 "src/eval/a.h:1: a module's header may include" src/eval/a.h "#include <torch/torch.h>\n")
expect(1 "src/base/a.cc:2: base does without LibTorch" src/base/a.cc "#include <array>\n#include <ATen/Parallel.h>\n")
expect(1 "src/io/detail/a.h:1: io does without LibTorch" src/io/detail/a.h "#include <c10/util/Exception.h>\n")
expect(1 "src/knowledge/a.cc:1: knowledge does without LibTorch" src/knowledge/a.cc "#include <torch/script.h>\n")
expect(1 "src/io/a.cc:1: io and tensors are neighbours" src/io/a.cc "#include \"tensors/tensors.h\"\n")
expect(1 "src/base/parallel.cc:1: base does without LibTorch" src/base/parallel.cc "#include <ATen/Parallel.h>\n")
expect(1 "src/fewshot/method.h:1: fewshot does without LibTorch" src/fewshot/method.h "#include <ATen/core/Tensor.h>\n")
expect(1 "src/fewshot/plda/a.cc:1: fewshot does without LibTorch" src/fewshot/plda/a.cc "#include <ATen/ATen.h>\n")
expect(0 "of 1 files keep to the levels" src/heads/episode_batch.h "#include <ATen/core/Tensor.h>\n")
expect(1 "src/recognizer/a.cc:1: eval/detail/private.h is private to eval" src/recognizer/a.cc "#include \"eval/detail/private.h\"\n")
expect(1 "src/vision/a.cc:1: 'vision' has no level" src/vision/a.cc "\n")
expect(1 "src/fewshot/toolbox/a.cc:1: fewshot/plda lies above fewshot/toolbox" src/fewshot/toolbox/a.cc "#include \"fewshot/plda/a.h\"\n")
expect(1 "src/fewshot/a.h:1: fewshot/toolbox lies above fewshot/contract" src/fewshot/a.h "#include \"fewshot/toolbox/a.h\"\n")
expect(1 "src/fewshot/detail/a.h:1: fewshot/toolbox lies above fewshot/contract" src/fewshot/detail/a.h "#include \"fewshot/toolbox/detail/a.h\"\n")
expect(1 "src/fewshot/paper/a.cc:2: fewshot/paper and fewshot/plda are neighbours" src/fewshot/paper/a.cc
       "#include \"fewshot/toolbox/a.h\"\n#include \"fewshot/plda/a.h\"\n")
expect(1 "src/fewshot/a.cc:1: 'attic' is not a wing of fewshot" src/fewshot/a.cc "#include \"fewshot/attic/a.h\"\n")
expect(1 "src/fewshot/attic/a.cc:1: 'fewshot/attic' has no level" src/fewshot/attic/a.cc "\n")
expect(1 "include/protocom/a.h:1: a public header includes the standard library" include/protocom/a.h "#include \"base/error.h\"\n")
expect(1 "include/protocom/a.h:2: a public header includes the standard library" include/protocom/a.h "#include <vector>\n#include <ATen/ATen.h>\n")
expect(1 "include/protocom/answer.h:1: a header of values includes" include/protocom/answer.h "#include \"protocom/recognizer.h\"\n")
expect(1 "src/store/a.cc:1: api lies above store" src/store/a.cc "#include \"protocom/recognizer.h\"\n")
expect(0 "of 1 files keep to the levels" src/store/a.cc "#include \"protocom/answer.h\"\n#include \"store/detail/a.h\"\n")
expect(0 "of 1 files keep to the levels" include/protocom/a.h "#include <vector>\n#include \"protocom/error.h\"\n")
expect(0 "of 1 files keep to the levels" src/api/a.cc "#include \"protocom/error.h\"\n#include \"api/detail/a.h\"\n#include \"recognizer/recognizer.h\"\n")
expect(1 "no source was found" README.md "\n")
expect(0 "of 1 files keep to the levels" src/fewshot/a.cc
       "#include \"fewshot/detail/a.h\"\n#include \"fewshot/a.h\"\n#include \"base/error.h\"\n")
expect(0 "of 1 files keep to the levels" src/fewshot/methods/a.cc
       "#include \"fewshot/plda/a.h\"\n#include \"fewshot/toolbox/detail/a.h\"\n#include \"fewshot/a.h\"\n")
expect(0 "of 1 files keep to the levels" apps/protocom/a.cc "#include \"train/a.h\"\n#include \"report/a.h\"\n")

# expect_links(RESULT MESSAGE LINKS): with a header of eval that includes datasets, and a private one that includes base besides.
function(expect_links result message links)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CMakeLists.txt "protocom_add_module(eval PCH torch ${links})  # protocom_add_module(\n")
  file(WRITE ${WORK}/src/eval/a.h "#include \"datasets/split.h\"\n#include \"eval/b.h\"\n")
  file(WRITE ${WORK}/src/eval/detail/a.h "#include \"base/error.h\"\n#include \"datasets/split.h\"\n")
  file(MAKE_DIRECTORY ${WORK}/src/base ${WORK}/src/datasets ${WORK}/src/encoders)
  expect_of(check_links.cmake ${result} "${message}")
endfunction()

expect_links(0 "1 modules link what they include" "PUBLIC torch protocom::datasets PRIVATE protocom::base ZLIB::ZLIB")
expect_links(1 "eval: its headers include 'datasets', it links PUBLIC 'datasets;encoders'" "PUBLIC protocom::encoders protocom::datasets PRIVATE protocom::base")
expect_links(1 "eval: its headers include 'datasets', it links PUBLIC ''" "PRIVATE protocom::datasets protocom::base")
expect_links(1 "eval: its sources also include 'base', it links PRIVATE ''" "PUBLIC protocom::datasets")

# expect_torch(RESULT MESSAGE TORCH FILE): with one file of eval that includes LibTorch.
function(expect_torch result message torch file)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CMakeLists.txt "protocom_add_module(eval TORCH ${torch})\n")
  file(WRITE ${WORK}/src/eval/${file} "#include <ATen/core/Tensor.h>\n")
  expect_of(check_links.cmake ${result} "${message}")
endfunction()

expect_torch(1 "eval: it includes LibTorch, which it links 'none'" none a.cc)
expect_torch(1 "eval: it includes LibTorch, which it links 'private'" private a.h)
expect_torch(0 "1 modules link what they include" private detail/a.h)
expect_torch(0 "1 modules link what they include" public a.h)
file(WRITE ${WORK}/CMakeLists.txt "\n")
expect_of(check_links.cmake 1 "no module was found")
file(REMOVE_RECURSE ${WORK})
