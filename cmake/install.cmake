# `cmake --install build` gives the program with its man pages and completions, the libraries, their
# headers and a CMake package: a plugin is `find_package(psn)` and
# `target_link_libraries(model PRIVATE psn::psn_core)`. `cmake --build build --target uninstall`
# takes away what was installed last. Components: runtime, mpi, netcdf, development.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME runtime)

get_property(layers GLOBAL PROPERTY PSN_LAYERS)
set(programs_libraries psn_models psn_zoo psn_zoo_trial psn_experiments)
psn_soname(${programs_libraries})
set_target_properties(psn PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
install(TARGETS psn_preload LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES psn/attach/random.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/psn/attach COMPONENT development)
set_target_properties(${layers} ${programs_libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS psn ${programs_libraries} RUNTIME LIBRARY NAMELINK_SKIP)
foreach(module mpi netcdf)
  if(TARGET psn_${module})
    set_target_properties(psn_${module} PROPERTIES INSTALL_RPATH "$ORIGIN")
    install(TARGETS psn_${module} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${module})
  endif()
endforeach()
install(TARGETS ${layers} EXPORT psn_targets
        LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)

# The program's own account of itself.
set(reference ${PROJECT_BINARY_DIR}/reference)
add_custom_command(
  OUTPUT ${reference}/man1/psn.1 ${reference}/psn.bash ${reference}/_psn ${reference}/psn.fish
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${reference}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${reference}
  COMMAND psn man --out ${reference}/man1
  COMMAND psn completion bash > ${reference}/psn.bash
  COMMAND psn completion zsh > ${reference}/_psn
  COMMAND psn completion fish > ${reference}/psn.fish
  DEPENDS psn VERBATIM)
add_custom_target(psn_reference ALL DEPENDS ${reference}/man1/psn.1)

# All that is installed, and nothing else of the build.
add_custom_target(psn_installed DEPENDS psn psn_preload psn_reference ${layers} ${programs_libraries})
foreach(part mpi netcdf python)
  if(TARGET psn_${part})
    add_dependencies(psn_installed psn_${part})
  endif()
endforeach()
install(DIRECTORY ${reference}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${reference}/psn.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME psn)
install(FILES ${reference}/_psn DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${reference}/psn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

# What others build on: these headers, and what they include. All others are nobody's business.
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(public_headers
  psn/core/context.h psn/core/model.h psn/core/plugin.h psn/core/in_process.h psn/core/run.h
  psn/core/posterior.h psn/infer/importance.h psn/infer/metropolis.h psn/infer/correction.h
  psn/infer/diagnostics.h psn/nn/run/surrogate.h psn/nn/network_file.h psn/nn/run/network_guide.h
  psn/nn/run/evaluate.h psn/train/trainer.h psn/train/comparison.h psn/ppx/remote.h psn/ppx/server.h
  psn/ppx/psn.h psn/services/simulate.h psn/services/infer.h psn/services/train.h
  psn/services/compare.h psn/services/validate.h psn/services/calibrate.h
  psn/services/criticise.h psn/services/model_evidence.h psn/services/generate.h psn/services/stores.h psn/services/predict.h
  psn/services/graph.h psn/services/serve.h psn/services/inspect.h psn/services/machine.h
  psn/services/summary.h psn/services/diagnose.h psn/services/export_result.h
  psn/services/watch.h psn/services/build_facts.h psn/services/import_runs.h)
set(unread ${public_headers})
while(unread)
  list(POP_FRONT unread header)
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"psn/")
  list(TRANSFORM includes REPLACE "^#include \"([^\"]*)\".*" "\\1")
  list(REMOVE_ITEM includes ${public_headers})
  list(APPEND public_headers ${includes})
  list(APPEND unread ${includes})
endwhile()
foreach(header ${public_headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/psn/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/psn)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/psn)
install(EXPORT psn_targets NAMESPACE psn:: DESTINATION ${package})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/psnConfig.cmake.in ${PROJECT_BINARY_DIR}/psnConfig.cmake
                              INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/psnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/psnConfig.cmake ${PROJECT_BINARY_DIR}/psnConfigVersion.cmake
        DESTINATION ${package})

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
          -P ${CMAKE_CURRENT_LIST_DIR}/uninstall.cmake VERBATIM)
