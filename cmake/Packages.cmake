# Installing and packing, by component:
#
#   program     the command line, assets, scenarios, documents, licences
#   window      the desktop window
#   real        the ranks' programs, which load libtorch
#   libraries   the distribution's libraries beside them, for machines of another distribution; only in the archive
#
# `cmake --install` takes what was built of the first three; `cpack -G TGZ` all four; `cpack -G DEB` the first two, because Debian has no
# package of this libtorch. docs/installing.md says how to use each. Programs look for ../share/shardlab beside their own folder
# (engine/base/paths.h), so these folders are no options.
include(Licences)
set(documents share/doc/shardlab)
install(DIRECTORY assets scenarios DESTINATION share/shardlab COMPONENT program)
install(FILES LICENSE README.md DESTINATION ${documents} COMPONENT program)
install(FILES "${shardlab_licences}" DESTINATION ${documents} RENAME copyright COMPONENT program)
install(DIRECTORY docs/ DESTINATION ${documents}/docs COMPONENT program)
install(CODE "set(shardlab_programs \"${PROJECT_BINARY_DIR}/bin\")" COMPONENT libraries EXCLUDE_FROM_ALL)
install(SCRIPT cmake/BundleLibraries.cmake COMPONENT libraries EXCLUDE_FROM_ALL)

set(CPACK_PACKAGE_NAME shardlab)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
string(REGEX REPLACE "^A " "" CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")  # as Debian words it
set(CPACK_PACKAGE_DESCRIPTION "Plans and predicts the training of large models with DDP, FSDP and
FSDP2: what fits into memory, how long a step takes, and which
instruction is to blame. Real runs need libtorch, which this package
leaves out.")
set(CPACK_PACKAGE_CONTACT "The shardlab developers <shardlab@shardlab.invalid>")
set(CPACK_PACKAGE_VENDOR shardlab)
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_COMPONENTS_ALL program window real libraries)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/cmake/PackageOptions.cmake")
include(CPack)
