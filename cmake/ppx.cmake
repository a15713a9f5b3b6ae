# The layer that talks to simulators in other processes. Its codec is generated from ppx.fbs.
find_program(PSN_FLATC flatc REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)

set(generated ${PROJECT_BINARY_DIR}/generated)
set(schema ${PROJECT_SOURCE_DIR}/psn/ppx/ppx.fbs)
add_custom_command(OUTPUT ${generated}/ppx_generated.h
                   COMMAND ${PSN_FLATC} --cpp -o ${generated} ${schema} DEPENDS ${schema})

psn_layer(ppx USES core LINK PRIVATE PkgConfig::ZMQ Threads::Threads)
target_compile_definitions(psn_ppx PRIVATE PSN_VERSION="${PROJECT_VERSION}")
target_sources(psn_ppx PRIVATE ${generated}/ppx_generated.h)
target_include_directories(psn_ppx SYSTEM PRIVATE ${generated})
