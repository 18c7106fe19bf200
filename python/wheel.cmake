# What a wheel has beside the module: the library, the plug-in where there is one, the programs, an encoder.
#   protocom/libprotocom.so.0   protocom/bin, protocom/libexec: the programs   protocom/encoders: NAME.onnx
# A zip has no links: with a version behind it the library would be there twice.
set_target_properties(protocom_library PROPERTIES VERSION ${PROJECT_VERSION_MAJOR})
install(TARGETS protocom_library LIBRARY DESTINATION protocom COMPONENT python NAMELINK_SKIP)
if(TARGET protocom_torch)
  set_property(TARGET protocom_torch PROPERTY INSTALL_RPATH $ORIGIN)
  install(TARGETS protocom_torch LIBRARY DESTINATION protocom COMPONENT python)
endif()

# The programs lie in the package, whose place an environment's bin/ knows by asking Python alone.
foreach(name protocom protocom-serve)
  install(PROGRAMS ${CMAKE_CURRENT_SOURCE_DIR}/start_program.py DESTINATION ${SKBUILD_SCRIPTS_DIR} RENAME ${name} COMPONENT python)
endforeach()

set(PROTOCOM_DEFAULT_ENCODER "" CACHE FILEPATH "The encoder that a wheel brings, efficientnet-lite0.onnx")
if(EXISTS "${PROTOCOM_DEFAULT_ENCODER}")
  cmake_path(REPLACE_EXTENSION PROTOCOM_DEFAULT_ENCODER LAST_ONLY .LICENSE OUTPUT_VARIABLE licence)
  install(FILES ${PROTOCOM_DEFAULT_ENCODER} DESTINATION protocom/encoders COMPONENT python)
  install(FILES ${licence} DESTINATION protocom/encoders COMPONENT python OPTIONAL)
else()
  message(NOTICE "The wheel will have no encoder: PROTOCOM_DEFAULT_ENCODER is '${PROTOCOM_DEFAULT_ENCODER}', which is no file")
endif()

# All that a wheel has, for pip to build.
add_custom_target(protocom_wheel DEPENDS protocom_python protocom_library protocom protocom-serve $<TARGET_NAME_IF_EXISTS:protocom_torch>)
