# Packs BUILD into WORK as Debian packages and looks into each of them.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK})
# By gzip: what `make deb` takes, xz, is most of the time and changes nothing that is looked at.
execute_process(COMMAND ${CPACK} -G DEB --config ${BUILD}/CPackConfig.cmake -B ${WORK} -D CPACK_DEBIAN_COMPRESSION_TYPE=gzip
                        -D CPACK_OUTPUT_FILE_PREFIX=${WORK}/packages
                RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  message(NOTICE "${output}")
  message(FATAL_ERROR "cpack gave exit ${status}")
endif()

# expect_package(NAME FILE...): there is one, it has its papers and files that match.
function(expect_package name)
  file(GLOB package ${WORK}/packages/${name}_*.deb)
  list(LENGTH package count)
  if(NOT count EQUAL 1)
    message(FATAL_ERROR "${count} packages ${name} were made")
  endif()
  execute_process(COMMAND dpkg-deb --contents ${package} OUTPUT_VARIABLE contents COMMAND_ERROR_IS_FATAL ANY)
  foreach(file IN ITEMS usr/share/doc/${name}/copyright usr/share/doc/${name}/changelog.gz LISTS ARGN)
    if(NOT contents MATCHES " [.]/${file}")
      message(FATAL_ERROR "${name} has no ${file}:\n${contents}")
    endif()
  endforeach()
  if(contents MATCHES "man1/[^\n]*[.]1\n")
    message(FATAL_ERROR "${name} has manual pages that are not compressed")
  endif()
  execute_process(COMMAND dpkg-deb --field ${package} Depends OUTPUT_VARIABLE depends COMMAND_ERROR_IS_FATAL ANY)
  set(depends "${depends}" PARENT_SCOPE)
endfunction()

expect_package(protocom usr/bin/protocom\n usr/libexec/protocom/protocom\n usr/share/man/man1/protocom.1.gz
               usr/share/man/man1/protocom-recognizer.1.gz usr/share/bash-completion/completions/protocom\n
               "usr/share/zsh/[^\n]*/_protocom\n" usr/share/fish/vendor_completions.d/protocom.fish\n)
if(NOT depends MATCHES "libtorch")
  message(FATAL_ERROR "protocom should depend on LibTorch, found: ${depends}")
endif()
expect_package(protocom-serve usr/bin/protocom-serve\n usr/libexec/protocom/protocom-serve\n usr/share/man/man1/protocom-serve.1.gz
               usr/lib/systemd/system/protocom-serve.service etc/protocom/serve.conf)
expect_package(libprotocom0 "usr/lib/[^\n]*libprotocom[.]so[.]0 -> ")
if(contents MATCHES "libprotocom.so ->")
  message(FATAL_ERROR "libprotocom.so is for those who develop")
endif()
expect_package(libprotocom-dev "usr/lib/[^\n]*libprotocom[.]so -> " usr/include/protocom/recognizer.h usr/include/protocom/version.h
               "usr/lib/[^\n]*protocomConfig.cmake" "usr/lib/[^\n]*protocom.pc")
if(NOT depends MATCHES "libprotocom0 [(]= ")
  message(FATAL_ERROR "libprotocom-dev should depend on its library, found: ${depends}")
endif()
if(PYTHON)
  expect_package(python3-protocom "usr/[^\n]*/protocom/__init__.py" "usr/[^\n]*/protocom/_core")
endif()

find_program(lintian lintian)
if(lintian)
  file(GLOB packages ${WORK}/packages/*.deb)
  execute_process(COMMAND ${lintian} --fail-on error ${packages} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message(NOTICE "${output}")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "lintian found errors")
  endif()
endif()
