# What the browser gets: files of psn/report/web, and Vega, which npm fetches into the build's folder.
option(PSN_FIGURES "Fetch Vega with npm and put it into reports; without it they have tables only" ON)
set(web ${PROJECT_SOURCE_DIR}/psn/report/web)
set(fetched ${PROJECT_BINARY_DIR}/web)
set(libraries vega vega-lite vega-embed)
list(TRANSFORM libraries REPLACE "(.+)" "${fetched}/\\1.min.js" OUTPUT_VARIABLE bundles)
file(MAKE_DIRECTORY ${fetched})
if(PSN_FIGURES)
  find_program(PSN_NPM npm REQUIRED)
  set(copies)
  foreach(library ${libraries})
    list(APPEND copies COMMAND ${CMAKE_COMMAND} -E copy
                       ${fetched}/node_modules/${library}/build/${library}.min.js ${fetched})
  endforeach()
  add_custom_command(
    OUTPUT ${bundles}
    COMMAND ${CMAKE_COMMAND} -E copy ${web}/package.json ${web}/package-lock.json ${fetched}
    COMMAND ${PSN_NPM} ci --prefer-offline --ignore-scripts --no-audit --no-fund --loglevel=error --update-notifier=false
    ${copies}
    DEPENDS ${web}/package.json ${web}/package-lock.json
    WORKING_DIRECTORY ${fetched}
    COMMENT "Fetching Vega" VERBATIM)
else()
  foreach(bundle ${bundles})
    file(WRITE ${bundle} "")
  endforeach()
endif()
target_sources(psn_report PRIVATE ${web}/assets.S)
file(GLOB pages CONFIGURE_DEPENDS ${web}/*.html ${web}/*.css ${web}/*.js)
set_source_files_properties(${web}/assets.S PROPERTIES
  INCLUDE_DIRECTORIES "${web};${fetched}" OBJECT_DEPENDS "${pages};${bundles}")
