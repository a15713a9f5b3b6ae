# `cmake --install build` gives the program, the libraries, their headers and a CMake package, so
# that a plugin is `find_package(psn)` and `target_link_libraries(model PRIVATE psn::psn_core)`.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY PSN_LAYERS)
set_target_properties(psn PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
set_target_properties(${layers} psn_models psn_zoo psn_zoo_trial psn_experiments PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS psn psn_models psn_zoo psn_zoo_trial psn_experiments RUNTIME LIBRARY)
if(TARGET psn_mpi)
  set_target_properties(psn_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS psn_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS ${layers} EXPORT psn_targets LIBRARY)

# What others build on: these headers, and what they include. All others are nobody's business.
set(public_headers
  psn/core/context.h psn/core/model.h psn/core/plugin.h psn/core/in_process.h psn/core/run.h
  psn/core/posterior.h psn/infer/importance.h psn/infer/metropolis.h psn/infer/correction.h
  psn/infer/diagnostics.h psn/nn/run/surrogate.h psn/nn/network_file.h psn/nn/run/network_guide.h
  psn/nn/run/evaluate.h psn/train/trainer.h psn/train/comparison.h psn/ppx/remote.h psn/ppx/server.h
  psn/ppx/psn.h psn/services/simulate.h psn/services/infer.h psn/services/train.h
  psn/services/compare.h psn/services/validate.h psn/services/calibrate.h
  psn/services/criticise.h psn/services/generate.h psn/services/stores.h psn/services/predict.h
  psn/services/graph.h psn/services/serve.h psn/services/inspect.h psn/services/machine.h)
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
install(EXPORT psn_targets NAMESPACE psn:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/psn)
file(WRITE ${PROJECT_BINARY_DIR}/psnConfig.cmake
     "include(CMakeFindDependencyMacro)\nfind_dependency(fmt)\n"
     "include(\"\${CMAKE_CURRENT_LIST_DIR}/psn_targets.cmake\")\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/psnConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/psnConfig.cmake ${PROJECT_BINARY_DIR}/psnConfigVersion.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/psn)
