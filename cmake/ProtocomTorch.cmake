# LibTorch: Debian's, or one from a PyTorch wheel with or without CUDA (docs/design.md). A wheel brings more than its own libraries; what of
# that would get in the way of the system's is put aside here.
find_package(fmt REQUIRED)

# CMake's files of a LibTorch with CUDA want the whole toolkit with its compiler, which we have nothing to compile for. Where this target
# is there already they look for none, and the headers in PyTorch's own wheels, or of a toolkit, are enough.
if(NOT TARGET torch::cudart)
  add_library(torch::cudart INTERFACE IMPORTED)
endif()
find_package(Torch REQUIRED)
# A wheel brings GCC's OpenMP with it. We link the same one, for two in a process would each start their threads.
if(EXISTS ${TORCH_INSTALL_PREFIX}/lib/libgomp.so.1 AND NOT DEFINED OpenMP_gomp_LIBRARY)
  set(OpenMP_gomp_LIBRARY ${TORCH_INSTALL_PREFIX}/lib/libgomp.so.1 CACHE FILEPATH "LibTorch's OpenMP")
endif()

# Our own level is C++17: clang 14 refuses Debian's Torch headers as C++20. A newer Torch says in an #error line of its
# headers which level it needs, and raises ours.
foreach(directory IN LISTS TORCH_INCLUDE_DIRS)
  foreach(header ATen/ATen.h torch/all.h)
    if(EXISTS ${directory}/${header})
      file(STRINGS ${directory}/${header} demand REGEX "^ *#error C\\+\\+[0-9]+ or later")
      if(demand MATCHES "C\\+\\+([0-9]+)" AND CMAKE_MATCH_1 GREATER PROTOCOM_CXX_LEVEL)
        set(PROTOCOM_CXX_LEVEL ${CMAKE_MATCH_1})
      endif()
    endif()
  endforeach()
endforeach()

# The target `torch` hands its ABI flag on to all that link it, but the distribution's C++ libraries have the new ABI only.
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "LibTorch ${Torch_VERSION} in ${TORCH_INSTALL_PREFIX} was built with the old C++ ABI (${TORCH_CXX_FLAGS}); "
    "fmt, spdlog and GoogleTest of this system have the new one and would not link. Take a LibTorch with the new ABI: "
    "PyTorch's wheels have it from 2.6 on, Debian's libtorch-dev always.")
endif()

# Collectives between GPUs are the one thing of ours that includes CUDA's headers; without them processes share CPUs alone.
if(TARGET torch_cuda)
  file(GLOB wheels ${TORCH_INSTALL_PREFIX}/../nvidia/*)
  file(GLOB runtimes ${TORCH_INSTALL_PREFIX}/../nvidia/*/lib/libcudart.so.*)  # a wheel's has no plain name
  list(TRANSFORM runtimes REPLACE "^.*/" "")
  set(places PATHS ${wheels} $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda)
  find_path(PROTOCOM_CUDA_INCLUDE crt/host_defines.h ${places} PATH_SUFFIXES include DOC "Headers of LibTorch's CUDA")
  find_path(PROTOCOM_CCCL_INCLUDE nv/target ${places} PATH_SUFFIXES include include/cccl DOC "Those that CUDA's headers include")
  find_path(PROTOCOM_NCCL_INCLUDE nccl.h ${places} PATH_SUFFIXES include DOC "The header of LibTorch's NCCL")
  find_library(PROTOCOM_CUDA_RUNTIME NAMES ${runtimes} cudart ${places} PATH_SUFFIXES lib lib64 DOC "The run-time library of LibTorch's CUDA")
  if(PROTOCOM_CUDA_INCLUDE AND PROTOCOM_CCCL_INCLUDE AND PROTOCOM_NCCL_INCLUDE AND PROTOCOM_CUDA_RUNTIME)
    set_target_properties(torch::cudart PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${PROTOCOM_CUDA_INCLUDE};${PROTOCOM_CCCL_INCLUDE};${PROTOCOM_NCCL_INCLUDE}"
      INTERFACE_LINK_LIBRARIES "${PROTOCOM_CUDA_RUNTIME}")
    set(PROTOCOM_NCCL ON)
  else()
    message(STATUS "Without NCCL, for not all of CUDA's headers are there: several processes cannot share GPUs (docs/design.md)")
  endif()
endif()

# A wheel's libraries export parts of the C++ library that they were built with, and their std::filesystem::remove_all ends in a crash: the
# system's is named before them, so that it is asked first. Beside LibTorch's headers lie those of another fmt than the system's, which
# spdlog was built with: the system's come first.
if(EXISTS ${TORCH_INSTALL_PREFIX}/include/fmt AND NOT fmt_DIR MATCHES "^${TORCH_INSTALL_PREFIX}/")
  set_property(TARGET torch APPEND PROPERTY INTERFACE_LINK_OPTIONS "LINKER:--push-state,--no-as-needed,-lstdc++,--pop-state")
  get_target_property(includes fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
  find_path(PROTOCOM_FMT_INCLUDE fmt/core.h PATHS ${includes} NO_DEFAULT_PATH REQUIRED)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/system)
  file(CREATE_LINK ${PROTOCOM_FMT_INCLUDE}/fmt ${PROJECT_BINARY_DIR}/system/fmt SYMBOLIC)
  get_target_property(includes torch INTERFACE_INCLUDE_DIRECTORIES)
  set_target_properties(torch PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_BINARY_DIR}/system;${includes}")
endif()

# oneDNN, for the convolutions of ONNX's networks: LibTorch's own, where that is a library of the system whose headers are there as well
# (Debian: libdnnl-dev). Where it lies inside LibTorch, a second one in the process would take the calls of the first.
add_library(protocom_onednn INTERFACE IMPORTED GLOBAL)
find_path(PROTOCOM_ONEDNN_INCLUDE oneapi/dnnl/dnnl.hpp DOC "Headers of the oneDNN that LibTorch links")
find_library(PROTOCOM_ONEDNN_LIBRARY libdnnl.so.2 DOC "The oneDNN that LibTorch links")
if(PROTOCOM_ONEDNN_INCLUDE AND PROTOCOM_ONEDNN_LIBRARY AND CMAKE_READELF)
  file(STRINGS ${PROTOCOM_ONEDNN_INCLUDE}/oneapi/dnnl/dnnl_version.h version REGEX "DNNL_VERSION_MAJOR 2$")
  cmake_path(GET TORCH_LIBRARY PARENT_PATH directory)
  execute_process(COMMAND ${CMAKE_READELF} -d ${directory}/libtorch_cpu.so OUTPUT_VARIABLE needed ERROR_QUIET)
  if(version AND needed MATCHES "libdnnl\\.so\\.2")
    set_target_properties(protocom_onednn PROPERTIES INTERFACE_INCLUDE_DIRECTORIES ${PROTOCOM_ONEDNN_INCLUDE}
      INTERFACE_LINK_LIBRARIES ${PROTOCOM_ONEDNN_LIBRARY} INTERFACE_COMPILE_DEFINITIONS PROTOCOM_ONEDNN)
    set(PROTOCOM_ONEDNN ON)
  endif()
endif()
if(NOT PROTOCOM_ONEDNN)
  message(STATUS "Without LibTorch's oneDNN 2 and its headers (libdnnl-dev): ONNX's convolutions are LibTorch's, which are slower")
endif()
