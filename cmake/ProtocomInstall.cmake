# `cmake --install` gives the CLI, the library, its headers, a CMake package (find_package(protocom)) and one for pkg-config.
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/protocom)
install(TARGETS protocom_library EXPORT protocomTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
if(NOT PROTOCOM_SHARED)
  # What the archive is made of, and where its dependencies are found again.
  get_property(core GLOBAL PROPERTY protocom_core_modules)
  get_property(torch GLOBAL PROPERTY protocom_torch_modules)
  install(TARGETS ${core} ${torch} EXPORT protocomTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/ProtocomDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/ProtocomTorch.cmake DESTINATION ${package} COMPONENT development)
endif()
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/protocom/*.h)
install(FILES ${headers} ${PROJECT_BINARY_DIR}/include/protocom/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/protocom COMPONENT development)
install(EXPORT protocomTargets NAMESPACE protocom:: DESTINATION ${package} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/protocomConfig.cmake.in
  ${PROJECT_BINARY_DIR}/protocomConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/protocomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/protocomConfig.cmake ${PROJECT_BINARY_DIR}/protocomConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)
file(RELATIVE_PATH PROTOCOM_PREFIX_FROM_PKGCONFIG ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/protocom.pc.in ${PROJECT_BINARY_DIR}/protocom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/protocom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
