# Turns folders of tests into programs and ctest entries.
find_package(Catch2 REQUIRED)
list(APPEND CMAKE_MODULE_PATH "${Catch2_DIR}")
include(Catch)

# Where tests and benchmarks find their data and the programs.
add_library(shardlab_test_paths INTERFACE)
target_compile_definitions(shardlab_test_paths INTERFACE
  SHARDLAB_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data" SHARDLAB_TEST_SOURCE="${PROJECT_SOURCE_DIR}"
  SHARDLAB_TEST_PROGRAMS="${PROJECT_BINARY_DIR}/bin")
add_library(shardlab_test_support INTERFACE)
target_link_libraries(shardlab_test_support INTERFACE shardlab_test_paths Catch2::Catch2WithMain)
# A test is compiled more often than its own lines take time.
target_compile_options(shardlab_test_support INTERFACE ${SHARDLAB_LIGHT_OPTIONS})

# Catch2's header, which every test includes; after c10/util/Logging.h, which defines a CHECK of its own.
shardlab_precompiled(shardlab_test_pch HEADERS <tests/catch.h> ${SHARDLAB_COMMON_HEADERS}
  LIBRARIES shardlab_base shardlab_test_support)
target_include_directories(shardlab_test_pch PRIVATE "${PROJECT_SOURCE_DIR}")
if(SHARDLAB_TORCH)
  shardlab_precompiled(shardlab_torch_test_pch HEADERS <ATen/ATen.h> <c10/util/Logging.h> <tests/catch.h> ${SHARDLAB_COMMON_HEADERS}
    LIBRARIES shardlab::torch_cpu shardlab_base shardlab_test_support)
  target_include_directories(shardlab_torch_test_pch PRIVATE "${PROJECT_SOURCE_DIR}")
endif()

# Scripts run with the system's Python; those that need torch use $SHARDLAB_PYTHON, empty without libtorch.
find_program(SHARDLAB_SCRIPT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT SHARDLAB_SCRIPT_PYTHON)
  find_program(SHARDLAB_SCRIPT_PYTHON python3)
endif()

# What the sanitizer builds need: the unit and plan tests, without programs and benchmarks.
add_custom_target(shardlab_unit_tests)

# shardlab_test(<name> LABEL <label> FOLDERS <dir>... LIBRARIES <lib>... [EXCLUDE <prefix>...] [PROCESSORS n] [TIMEOUT s]
#               [ENVIRONMENT NAME=value])
# The program shardlab_test_<name> of all .cpp below the folders; nothing when there is none.
function(shardlab_test name)
  cmake_parse_arguments(ARG "" "LABEL;PROCESSORS;TIMEOUT;ENVIRONMENT" "FOLDERS;LIBRARIES;EXCLUDE" ${ARGN})
  shardlab_sources(sources FOLDERS ${ARG_FOLDERS} EXCLUDE ${ARG_EXCLUDE})
  if(NOT sources)
    return()
  endif()
  if(NOT ARG_PROCESSORS)
    set(ARG_PROCESSORS 1)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(SHARDLAB_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 6")  # what they watch takes several times as long
  endif()
  add_executable(shardlab_test_${name} ${sources})
  target_link_libraries(shardlab_test_${name} PRIVATE ${ARG_LIBRARIES} shardlab_test_support shardlab::warnings)
  target_include_directories(shardlab_test_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  set(precompiled shardlab_test_pch)
  if(SHARDLAB_TORCH AND "${ARG_LIBRARIES}" MATCHES "shardlab_real")
    set(precompiled shardlab_torch_test_pch)
  endif()
  shardlab_reuse_precompiled(shardlab_test_${name} ${precompiled})
  foreach(program shardlab shardlab-rank)
    if(TARGET ${program} AND ARG_LABEL MATCHES "^(cli|training)$")
      add_dependencies(shardlab_test_${name} ${program})
    endif()
  endforeach()
  if(ARG_LABEL MATCHES "^(unit|plans)$")
    add_dependencies(shardlab_unit_tests shardlab_test_${name})
  endif()
  set(environment)
  if(ARG_ENVIRONMENT)
    set(environment ENVIRONMENT ${ARG_ENVIRONMENT})
  endif()
  catch_discover_tests(shardlab_test_${name} TEST_PREFIX "${name}: "
    PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT} PROCESSORS ${ARG_PROCESSORS} ${environment})
endfunction()

# shardlab_scripts(<folder> [PROCESSORS n] [WITHOUT_TORCH]): every .py and .sh directly in the folder is the test <folder>.<file>,
# labelled with the folder's name; a file that starts with an underscore is a helper, one that ends in _slow is also labelled slow, one
# in _nightly nightly. PROCESSORS: what a script takes that does not say so itself, in a line "# processors: n". WITHOUT_TORCH: where there is libtorch they are also tests of the programs without it, labelled without_torch.
function(shardlab_scripts folder)
  cmake_parse_arguments(ARG "WITHOUT_TORCH" "PROCESSORS" "" ${ARGN})
  file(GLOB scripts CONFIGURE_DEPENDS "${folder}/*.py" "${folder}/*.sh")
  foreach(script IN LISTS scripts)
    get_filename_component(stem "${script}" NAME_WE)
    if(stem MATCHES "^_")
      continue()
    endif()
    set(labels ${folder})
    foreach(kind slow nightly)
      if(stem MATCHES "_${kind}$")
        list(APPEND labels ${kind})
      endif()
    endforeach()
    _shardlab_script("${folder}.${stem}" "${script}" "${labels}" "${PROJECT_BINARY_DIR}/bin/shardlab" "${SHARDLAB_PYTHON}")
    if(ARG_WITHOUT_TORCH AND SHARDLAB_TORCH AND NOT "nightly" IN_LIST labels)
      _shardlab_script("without_torch.${folder}.${stem}" "${script}" without_torch "${PROJECT_BINARY_DIR}/without_torch/shardlab" "")
    endif()
    set(processors ${ARG_PROCESSORS})
    file(STRINGS "${script}" said REGEX "^# processors: [0-9]+$" LIMIT_COUNT 1)
    if(said)
      string(REGEX MATCH "[0-9]+" processors "${said}")
    endif()
    if(processors)
      set_tests_properties("${folder}.${stem}" PROPERTIES PROCESSORS ${processors})
    endif()
  endforeach()
endfunction()

function(_shardlab_script name script labels program python)
  set(runner bash)
  if(script MATCHES "\\.py$")
    set(runner "${SHARDLAB_SCRIPT_PYTHON}")
  endif()
  add_test(NAME "${name}" COMMAND ${runner} "${script}")
  set_tests_properties("${name}" PROPERTIES LABELS "${labels}" TIMEOUT 900 SKIP_RETURN_CODE 77 ENVIRONMENT
    "SHARDLAB=${program};SHARDLAB_BUILD=${PROJECT_BINARY_DIR};SHARDLAB_SOURCE=${PROJECT_SOURCE_DIR};SHARDLAB_PYTHON=${python};SHARDLAB_SANITIZE=${SHARDLAB_SANITIZE};PYTHONDONTWRITEBYTECODE=1")
endfunction()

# shardlab_benchmarks(<folder> LIBRARIES <lib>...): every .cpp of the folder is the program shardlab_benchmark_<file>; programs
# and scripts are labelled benchmark and run alone.
function(shardlab_benchmarks folder)
  cmake_parse_arguments(ARG "" "" "LIBRARIES" ${ARGN})
  shardlab_sources(sources FOLDERS ${folder})
  foreach(source IN LISTS sources)
    get_filename_component(stem "${source}" NAME_WE)
    add_executable(shardlab_benchmark_${stem} "${source}")
    target_link_libraries(shardlab_benchmark_${stem} PRIVATE ${ARG_LIBRARIES} shardlab_test_paths shardlab::warnings)
    add_test(NAME "benchmark.${stem}" COMMAND shardlab_benchmark_${stem})
    set_tests_properties("benchmark.${stem}" PROPERTIES LABELS benchmark RUN_SERIAL ON TIMEOUT 900)
  endforeach()
  shardlab_scripts(${folder})
  file(GLOB scripts "${folder}/*.py" "${folder}/*.sh")
  foreach(script IN LISTS scripts)
    get_filename_component(stem "${script}" NAME_WE)
    if(NOT stem MATCHES "^_")
      set_tests_properties("${folder}.${stem}" PROPERTIES LABELS benchmark RUN_SERIAL ON)
    endif()
  endforeach()
endfunction()
