# What is put in front of programs that are attached (LD_PRELOAD). They may be in C or Fortran, so
# that it needs libc and nothing else: no exceptions, and linked as C is.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/psn/attach/preload/*.cpp)
add_library(psn_preload MODULE ${sources})
target_include_directories(psn_preload PRIVATE ${PROJECT_SOURCE_DIR})
target_compile_options(psn_preload PRIVATE ${PSN_WARNINGS} -fno-exceptions -fno-rtti -fno-threadsafe-statics
                                           -fvisibility=hidden)
target_link_options(psn_preload PRIVATE -Wl,-z,defs)
# Not several sources as one: what is state of the program that it is loaded into is global, which lint,
# that looks at these, allows nowhere else.
set_target_properties(psn_preload PROPERTIES LINKER_LANGUAGE C UNITY_BUILD OFF)
add_dependencies(psn_attach psn_preload)
