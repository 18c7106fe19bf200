# What the page's scripts lose when they are embedded, and what they keep.
include(${ROOT}/cmake/ProtocomEmbed.cmake)

set(script [==[
// A comment; with a semicolon and an odd ` in it.

/** @param {string} a */
export const f = a => {
    const address = 'http://x';  // behind code
    const rx = /\/\*\* not a comment \*\/ [^;]/g;
    /** @type {number} */ const n = 1;
    const m = f(/** @type {string} */ (n));
    if (a === 'b - c' && m) {
        n += 2;
    }
    return `${a ? `in // it` : '/** text */'}`;
};
/**
 * Several * lines **
 */
f('a');
]==])
string(REPLACE "an odd ` in" "two `` in" script "${script}")
set(expected [==[
export const f=a=>{const address='http://x';const rx=/\/\*\* not a comment \*\/ [^;]/g;const n=1;const m=f((n));if(a==='b - c'&&m){n+=2;}
return `${a ? `in // it` : '/** text */'}`;};f('a');]==])
protocom_strip_script(script "here")
if(NOT script STREQUAL expected)
  message(FATAL_ERROR "expected\n${expected}\nfound\n${script}")
endif()

file(WRITE ${WORK}/torn.cmake "include(${ROOT}/cmake/ProtocomEmbed.cmake)\nset(text \"const a = `one\\n  two`;\\n\")\nprotocom_strip_script(text torn.js)\n")
execute_process(COMMAND ${CMAKE_COMMAND} -P ${WORK}/torn.cmake RESULT_VARIABLE failed ERROR_VARIABLE said OUTPUT_QUIET)
if(failed EQUAL 0 OR NOT said MATCHES "torn.js: a template literal over several lines")
  message(FATAL_ERROR "a template literal over several lines was not refused: ${said}")
endif()
