# Compiler settings shared by everything we build; never exported to those who link us.
add_library(protocom_settings INTERFACE)
target_compile_features(protocom_settings INTERFACE cxx_std_${PROTOCOM_CXX_LEVEL})
target_compile_options(protocom_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
# It defines _REENTRANT, in which a source and its precompiled header must agree. Some libraries' flags have it (libjxl's, of Debian 13).
target_compile_options(protocom_settings INTERFACE -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND PROTOCOM_PCH)
  # Its garbage collector goes through the precompiled headers each time: rarer, a fifth of the time to compile is saved.
  target_compile_options(protocom_settings INTERFACE --param=ggc-min-expand=100 --param=ggc-min-heapsize=500000)
endif()
if(PROTOCOM_SANITIZE)
  target_compile_definitions(protocom_settings INTERFACE PROTOCOM_SANITIZED)
  target_compile_options(protocom_settings INTERFACE -fsanitize=${PROTOCOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(protocom_settings INTERFACE -fsanitize=${PROTOCOM_SANITIZE})
endif()
if(PROTOCOM_SANITIZE MATCHES "undefined")
  # Not among those that are called undefined: a double beyond every integer that is made one. Sources convert by base's to_whole.
  target_compile_options(protocom_settings INTERFACE -fsanitize=float-cast-overflow -fno-sanitize-recover=float-cast-overflow)
  target_link_options(protocom_settings INTERFACE -fsanitize=float-cast-overflow)
endif()
if(PROTOCOM_SANITIZE MATCHES "undefined" AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # LibTorch is not instrumented: its types have no information that Clang could compare.
  target_compile_options(protocom_settings INTERFACE -fno-sanitize=vptr,function)
  target_link_options(protocom_settings INTERFACE -fno-sanitize=vptr,function)
endif()
if(PROTOCOM_FUZZ AND PROTOCOM_BUILD_TESTS)
  # One build for the tests under sanitizers and for harnesses: of what libFuzzer can look at the part that costs the tests nothing.
  target_compile_options(protocom_settings INTERFACE -fsanitize-coverage=inline-8bit-counters,pc-table)
elseif(PROTOCOM_FUZZ)
  target_compile_options(protocom_settings INTERFACE -fsanitize=fuzzer-no-link)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# The installed plug-in finds a LibTorch that lies outside the system's folders.
if(PROTOCOM_TORCH)
  cmake_path(NORMAL_PATH TORCH_INSTALL_PREFIX OUTPUT_VARIABLE torch_prefix)
  if(NOT torch_prefix MATCHES "^/usr/?$")
    set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
  endif()
endif()

# protocom_optimize(TARGET LEVEL): -O(LEVEL) in place of -O3 in a Release.
function(protocom_optimize target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# protocom_pch(NAME [LEVEL n] LINK target... HEADERS header...): headers precompiled once, for targets that say protocom_use_pch(target NAME).
# With them GCC takes over how they were optimised, -O(LEVEL) or else the build type's, whatever the target itself says.
# PROTOCOM_PCH=OFF leaves all of them out: clang-tidy cannot read GCC's, and compiling a source whose first include is its own
# header then proves that the header compiles alone.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/pch.cc CONTENT "")
function(protocom_pch name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LEVEL" "LINK;HEADERS")
  if(PROTOCOM_PCH)
    add_library(protocom_pch_${name} OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
    set_target_properties(protocom_pch_${name} PROPERTIES UNITY_BUILD OFF)
    target_link_libraries(protocom_pch_${name} PRIVATE protocom_settings ${arg_LINK})
    target_precompile_headers(protocom_pch_${name} PRIVATE ${arg_HEADERS})
    if(DEFINED arg_LEVEL)
      protocom_optimize(protocom_pch_${name} ${arg_LEVEL})
    endif()
  endif()
endfunction()
function(protocom_use_pch target name)
  if(PROTOCOM_PCH)
    target_precompile_headers(${target} REUSE_FROM protocom_pch_${name})
    target_compile_options(${target} PRIVATE -fPIC)  # as the header's; the -fPIE of an executable would not match it
  endif()
endfunction()

# Merely loading a precompiled <torch/torch.h> costs 4 s a file, so only the modules that train or run networks use it. A file in
# another module that needs it pays 10 s by itself.
set(plain_headers <fmt/format.h> <nlohmann/json.hpp> ${PROJECT_SOURCE_DIR}/src/base/eigen.h)
set(plain_targets fmt::fmt nlohmann_json::nlohmann_json Eigen3::Eigen)
set(tensor_headers <ATen/ATen.h> ${plain_headers})
set(tensor_targets torch ${plain_targets})
protocom_pch(plain LEVEL 2 LINK ${plain_targets} HEADERS ${plain_headers})
protocom_pch(loops LEVEL 3 LINK ${plain_targets} HEADERS ${plain_headers})
protocom_pch(cold LEVEL 1 LINK ${plain_targets} HEADERS ${plain_headers})
if(PROTOCOM_TORCH)
  protocom_pch(tensor LEVEL 2 LINK ${tensor_targets} HEADERS ${tensor_headers})
  protocom_pch(torch LEVEL 2 LINK ${tensor_targets} HEADERS ${tensor_headers} <torch/torch.h> <torch/script.h>)
endif()

# protocom_add_module(NAME [TORCH] [LOOPS|COLD] [PCH tensor|torch] [PUBLIC target...] [PRIVATE target...]): library protocom::NAME from src/NAME with
# its subfolders. Other modules include its headers but those in detail/. Subfolders methods/ and trained/ are left to protocom_add_methods. Modules are
# the core, which is built without LibTorch, or with TORCH the plug-in, which the core never links.
# -O2, since -O3 costs a sixth more time to compile; with LOOPS -O3, for modules with inner loops of their own; with COLD -O1, which
# takes a quarter less time, for modules that mostly wait for files, sockets and other modules.
function(protocom_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "TORCH;LOOPS;COLD" "PCH" "PUBLIC;PRIVATE")
  set(side core)
  set(pch plain)
  set(level 2)
  if(arg_LOOPS)
    set(pch loops)
    set(level 3)
  elseif(arg_COLD)
    set(pch cold)
    set(level 1)
  endif()
  if(arg_TORCH)
    set(side torch)
    set(pch tensor)
    list(APPEND arg_PUBLIC torch)
  endif()
  if(arg_PCH)
    set(pch ${arg_PCH})
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/src/${name}/(methods|trained)/")
  set(target protocom_${name})
  add_library(${target} STATIC ${sources})
  add_library(protocom::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
                                              $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${target} PUBLIC cxx_std_${PROTOCOM_CXX_LEVEL})
  target_link_libraries(${target} PUBLIC Threads::Threads ${arg_PUBLIC}
                                  PRIVATE $<BUILD_INTERFACE:protocom_settings> ${arg_PRIVATE})
  protocom_use_pch(${target} ${pch})
  protocom_optimize(${target} ${level})
  set_property(GLOBAL APPEND PROPERTY protocom_${side}_modules ${target})
endfunction()

# protocom_find_library_from(TARGET FOLDER): TARGET, once installed in FOLDER, finds libprotocom.so beside which it was installed. Debian's
# packages, whose libraries lie in the system's folder, need no path for that and must not have one.
function(protocom_find_library_from target folder)
  if(PROTOCOM_SHARED AND NOT CMAKE_INSTALL_PREFIX STREQUAL "/usr")
    file(RELATIVE_PATH to_library ${folder} ${CMAKE_INSTALL_FULL_LIBDIR})
    set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH "$ORIGIN/${to_library}")
  endif()
endfunction()
