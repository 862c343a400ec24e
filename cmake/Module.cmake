# dbdyno_module(name DEPS ... LIBS ...): every .c under src/<name> as one static library (a module
# of headers alone becomes an interface library).
function(dbdyno_module name)
  cmake_parse_arguments(M "" "" "DEPS;LIBS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.c)
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE ${CMAKE_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE ${M_DEPS} ${M_LIBS})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_compile_definitions(${name} PRIVATE _GNU_SOURCE)
  target_compile_options(${name} PRIVATE -include ${CMAKE_SOURCE_DIR}/src/base/banned.h)
  target_link_libraries(${name} PRIVATE dbdyno_warnings PUBLIC ${M_DEPS} ${M_LIBS})
endfunction()

# dbdyno_tests(module): every tests/unit/<module>/test_*.c as one cmocka program that links
# that module alone, which proves its layer.
function(dbdyno_tests module)
  file(GLOB files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${module}/test_*.c)
  foreach(file ${files})
    dbdyno_test(unit ${file} ${module})
  endforeach()
endfunction()

# dbdyno_test(label file module...): one cmocka program, registered as <label>.<stem>.
function(dbdyno_test label file)
  cmake_path(GET file STEM stem)
  add_executable(${stem} ${file})
  target_compile_definitions(${stem} PRIVATE _GNU_SOURCE DBDYNO_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_include_directories(${stem} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${stem} PRIVATE ${ARGN} dbdyno_warnings dbdyno_test_warnings
                        PkgConfig::CMOCKA)
  add_test(NAME ${label}.${stem} COMMAND ${stem})
  set_tests_properties(${label}.${stem} PROPERTIES LABELS ${label} SKIP_RETURN_CODE 77 TIMEOUT 120)
endfunction()
