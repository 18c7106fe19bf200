# Fails when PROGRAM has a function that one of LIBRARIES defines.
#   cmake -D NM=nm -D PROGRAM=<executable> -D LIBRARIES=<archive>,... -P check_symbols.cmake
cmake_minimum_required(VERSION 3.25)

# functions_of(FILE): what it defines for others to call, left in `functions`; weak ones, which headers give to everybody, left out.
function(functions_of file)
  execute_process(COMMAND ${NM} --defined-only ${file} OUTPUT_VARIABLE listing ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL " T [^\n]+" functions "${listing}")
  set(functions ${functions} PARENT_SCOPE)
endfunction()

functions_of(${PROGRAM})
set(in_program ${functions})
if(NOT " T main" IN_LIST in_program)
  message(FATAL_ERROR "${PROGRAM} has no symbols to look at")
endif()
string(REPLACE "," ";" libraries "${LIBRARIES}")
foreach(library IN LISTS libraries)
  functions_of(${library})
  if(NOT functions)
    message(FATAL_ERROR "${library} defines nothing")
  endif()
  foreach(function IN LISTS functions)
    if(function IN_LIST in_program)
      message(FATAL_ERROR "${PROGRAM} has${function} of ${library}")
    endif()
  endforeach()
endforeach()
