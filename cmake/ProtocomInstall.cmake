# `cmake --install` gives the CLI, the libraries, the headers and a package: find_package(protocom).
include(CMakePackageConfigHelpers)
get_property(modules GLOBAL PROPERTY protocom_modules)
install(TARGETS ${modules} EXPORT protocomTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/protocom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(EXPORT protocomTargets NAMESPACE protocom:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/protocom)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/protocomConfig.cmake.in
  ${PROJECT_BINARY_DIR}/protocomConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/protocom)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/protocomConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/protocomConfig.cmake ${PROJECT_BINARY_DIR}/protocomConfigVersion.cmake
              ${PROJECT_SOURCE_DIR}/cmake/ProtocomDependencies.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/protocom)
