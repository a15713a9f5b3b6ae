# The layers with messages and records of other origin: simulators in other processes, and traces on
# disk. Their codecs are generated.
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET libzmq)
pkg_check_modules(LMDB REQUIRED IMPORTED_TARGET lmdb)

psn_layer(ppx USES core LINK PRIVATE PkgConfig::ZMQ Threads::Threads)
psn_flatbuffers(ppx ppx)

psn_layer(data USES core ranks LINK PRIVATE PkgConfig::LMDB Threads::Threads)
psn_flatbuffers(data trace_store)
