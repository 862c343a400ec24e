# Assertions stay in every build type: CMake's own flags for RelWithDebInfo add -DNDEBUG.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")

include(CheckPIESupported)
check_pie_supported(LANGUAGES C)

# Sanitizers bring their own checks, and _FORTIFY_SOURCE needs an optimised build.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo" AND NOT DBDYNO_SANITIZE)
  add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fno-plt)
  add_link_options(-Wl,-z,relro,-z,now)
endif()
