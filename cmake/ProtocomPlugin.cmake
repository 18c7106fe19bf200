# What LibTorch computes, one call a level of docs/design.md, lowest first: networks, training, heads that are trained. The core knows of it
# by the functions that src/trainers/add_torch.h provides.
protocom_add_module(tensors TORCH PUBLIC protocom::base PRIVATE $<LINK_ONLY:OpenMP::OpenMP_CXX>)
protocom_add_module(distributed TORCH PUBLIC protocom::jobs PRIVATE protocom::base)
target_compile_definitions(protocom_distributed PRIVATE $<$<BOOL:${PROTOCOM_NCCL}>:PROTOCOM_NCCL>)
protocom_add_module(networks TORCH PCH torch PUBLIC protocom::io protocom::jobs protocom::images protocom::encoders
                    PRIVATE protocom::base protocom::distributed protocom::tensors protocom_onednn)
protocom_add_module(heads TORCH PUBLIC protocom::base protocom::fewshot PRIVATE protocom::knowledge protocom::tensors)
file(GLOB methods CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/heads/methods/*.cc)
if(CMAKE_UNITY_BUILD)
  protocom_method_groups(methods protocom_heads ${methods})
endif()
target_sources(protocom_heads PRIVATE ${methods})
set_source_files_properties(${methods} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
protocom_add_module(trainers TORCH PCH torch
                    PRIVATE protocom::base protocom::io protocom::jobs protocom::datasets protocom::encoders protocom::fewshot protocom::eval protocom::training
                            protocom::tensors protocom::distributed protocom::networks protocom::heads)

# Who links it has all of it from its start: tests, and programs where all is linked into one. An object of its own, since an archive would
# leave out unreferenced symbols.
add_library(protocom_torch_objects INTERFACE)
target_sources(protocom_torch_objects INTERFACE ${PROJECT_SOURCE_DIR}/src/add_torch.cc)
target_link_libraries(protocom_torch_objects INTERFACE protocom::trainers)

# The plug-in takes what it needs of the core from libprotocom.so, which comes first: none of the archives behind it is asked then. Where
# the linker leaves out libraries that nothing has asked for so far (--as-needed), it would leave out that one.
if(PROTOCOM_SHARED)
  add_library(protocom_torch MODULE ${PROJECT_SOURCE_DIR}/src/add_torch.cc)
  set_target_properties(protocom_torch PROPERTIES OUTPUT_NAME protocom-torch LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/src/api)
  target_link_libraries(protocom_torch PRIVATE protocom_settings -Wl,--push-state,--no-as-needed protocom_library -Wl,--pop-state protocom::trainers)
  protocom_find_library_from(protocom_torch ${CMAKE_INSTALL_FULL_LIBDIR}/protocom)
  if(NOT SKBUILD)
    install(TARGETS protocom_torch LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/protocom COMPONENT torch)
  endif()
endif()
