# Compiler settings shared by everything we build; never exported to those who link us.
add_library(protocom_settings INTERFACE)
target_compile_features(protocom_settings INTERFACE cxx_std_${PROTOCOM_CXX_LEVEL})
target_compile_options(protocom_settings INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
if(PROTOCOM_SANITIZE)
  target_compile_options(protocom_settings INTERFACE -fsanitize=${PROTOCOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(protocom_settings INTERFACE -fsanitize=${PROTOCOM_SANITIZE})
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
# The installed program finds a LibTorch that lies outside the system's folders.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

# <torch/torch.h> costs over 10 s a file; precompiled once and shared it costs about 3 s. clang-tidy cannot read GCC's, hence
# the option; without it, compiling a source whose first include is its own header also proves that the header stands alone.
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/pch.cc CONTENT "")
if(PROTOCOM_PCH)
  add_library(protocom_pch OBJECT ${PROJECT_BINARY_DIR}/pch.cc)
  target_link_libraries(protocom_pch PRIVATE protocom_settings torch)
  target_precompile_headers(protocom_pch PRIVATE <torch/torch.h> <torch/script.h>)
endif()
function(protocom_use_pch target)
  if(PROTOCOM_PCH)
    target_precompile_headers(${target} REUSE_FROM protocom_pch)
    target_compile_options(${target} PRIVATE -fPIC)  # as the header's; the -fPIE of an executable would not match it
  endif()
endfunction()

# protocom_add_module(NAME [PUBLIC target...] [PRIVATE target...]): library protocom::NAME from src/NAME and include/protocom/NAME.
function(protocom_add_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "PUBLIC;PRIVATE")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cc)
  if(NOT sources)
    set(sources ${PROJECT_BINARY_DIR}/pch.cc)
  endif()
  set(target protocom_${name})
  add_library(${target} STATIC ${sources})
  add_library(protocom::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
                                       PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(${target} PUBLIC cxx_std_${PROTOCOM_CXX_LEVEL})
  target_link_libraries(${target} PUBLIC torch Threads::Threads ${arg_PUBLIC}
                                  PRIVATE $<BUILD_INTERFACE:protocom_settings> ${arg_PRIVATE})
  protocom_use_pch(${target})
  set_property(GLOBAL APPEND PROPERTY protocom_modules ${target})
endfunction()
