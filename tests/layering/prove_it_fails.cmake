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

expect(1 "src/core/a.cc:2: data lies above core" src/core/a.cc "// up\n#include \"protocom/data/image.h\"\n")
expect(1 "src/data/a.cc:1: data and nn are neighbours" src/data/a.cc "#include \"protocom/nn/backbone.h\"\n")
expect(1 "src/shared/protocom/eval/a.h:3: train lies above eval" src/shared/protocom/eval/a.h
       "int a[2]; // ] ;\nint b;\\\n#include <protocom/train/pretrain.h>\n")
expect(1 "src/shared/protocom/core/a.h:1: a shared header may include" src/shared/protocom/core/a.h "#include <torch/torch.h>\n")
expect(1 "src/serve/a.cc:1: eval/private.h is private to eval" src/serve/a.cc "#include \"eval/private.h\"\n")
expect(1 "src/core/a.cc:1: 'vision' is not a module" src/core/a.cc "#include \"protocom/vision/a.h\"\n")
expect(1 "src/vision/a.cc:1: 'vision' has no level" src/vision/a.cc "\n")
expect(1 "src/fewshot/toolbox/a.cc:1: fewshot/plda lies above fewshot/toolbox" src/fewshot/toolbox/a.cc "#include \"protocom/fewshot/plda/a.h\"\n")
expect(1 "src/shared/protocom/fewshot/a.h:1: fewshot/toolbox lies above fewshot/contract" src/shared/protocom/fewshot/a.h
       "#include \"protocom/fewshot/toolbox/a.h\"\n")
expect(1 "src/fewshot/paper/a.cc:2: fewshot/paper and fewshot/heads are neighbours" src/fewshot/paper/a.cc
       "#include \"fewshot/toolbox/a.h\"\n#include \"fewshot/heads/a.h\"\n")
expect(1 "src/fewshot/a.cc:1: 'attic' is not a wing of fewshot" src/fewshot/a.cc "#include \"fewshot/attic/a.h\"\n")
expect(1 "src/fewshot/attic/a.cc:1: 'fewshot/attic' has no level" src/fewshot/attic/a.cc "\n")
expect(1 "include/protocom/a.h:1: a header of the front includes the standard library" include/protocom/a.h "#include \"protocom/core/error.h\"\n")
expect(1 "include/protocom/a.h:2: a header of the front includes the standard library" include/protocom/a.h "#include <vector>\n#include <ATen/ATen.h>\n")
expect(1 "src/serve/a.cc:1: front lies above serve" src/serve/a.cc "#include \"protocom/recognizer.h\"\n")
expect(0 "of 1 files keep to the levels" src/serve/a.cc "#include \"protocom/answer.h\"\n")
expect(1 "include/protocom/answer.h:1: a header of values includes" include/protocom/answer.h "#include \"protocom/recognizer.h\"\n")
expect(0 "of 1 files keep to the levels" include/protocom/a.h "#include <vector>\n#include \"protocom/error.h\"\n")
expect(0 "of 1 files keep to the levels" src/front/a.cc "#include \"protocom/error.h\"\n#include \"front/a.h\"\n#include \"protocom/serve/recognizer.h\"\n")
expect(1 "no source was found" README.md "\n")
expect(0 "of 1 files keep to the levels" src/fewshot/a.cc
       "#include \"fewshot/a.h\"\n#include <torch/torch.h>\n#include \"protocom/fewshot/a.h\"\n#include \"protocom/core/error.h\"\n")
expect(0 "of 1 files keep to the levels" src/fewshot/methods/a.cc
       "#include \"fewshot/plda/a.h\"\n#include \"fewshot/toolbox/a.h\"\n#include \"protocom/fewshot/a.h\"\n")
expect(0 "of 1 files keep to the levels" apps/protocom/a.cc "#include \"protocom/train/a.h\"\n#include \"protocom/report/a.h\"\n")

# expect_links(RESULT MESSAGE LINKS): with a shared header of eval that includes data, and a source that includes core besides.
function(expect_links result message links)
  file(REMOVE_RECURSE ${WORK})
  file(WRITE ${WORK}/CMakeLists.txt "protocom_add_module(eval PCH torch ${links})  # protocom_add_module(\n")
  file(WRITE ${WORK}/src/shared/protocom/eval/a.h "#include \"protocom/data/image.h\"\n#include \"protocom/eval/b.h\"\n")
  file(WRITE ${WORK}/src/eval/a.cc "#include \"protocom/core/error.h\"\n#include \"protocom/data/image.h\"\n")
  expect_of(check_links.cmake ${result} "${message}")
endfunction()

expect_links(0 "1 modules link what they include" "PUBLIC torch protocom::data PRIVATE protocom::core ZLIB::ZLIB")
expect_links(1 "eval: its shared headers include 'data', it links PUBLIC 'data;nn'" "PUBLIC protocom::nn protocom::data PRIVATE protocom::core")
expect_links(1 "eval: its shared headers include 'data', it links PUBLIC ''" "PRIVATE protocom::data protocom::core")
expect_links(1 "eval: its sources also include 'core', it links PRIVATE ''" "PUBLIC protocom::data")
file(WRITE ${WORK}/CMakeLists.txt "\n")
expect_of(check_links.cmake 1 "no module was found")
file(REMOVE_RECURSE ${WORK})
