// SPDX-License-Identifier: BSD-3-Clause
/*
 * The versions of libfabric, PMIx and the driver of the GPU, and the launcher. The invariant is in
 * views.h.
 */
#include "views.h"

#include "core/base/settings.h"
#include "gpu/gpu.h"
#include "ofi/select/provider.h"
#include "pmix/boot.h"

#include <dlfcn.h>
#include <stdio.h>

static int view_libfabric(void)
{
    uint32_t built, running;

    weft_provider_versions(&built, &running);
    printf("libfabric %u.%u (built with %u.%u)\n", FI_MAJOR(running), FI_MINOR(running),
           FI_MAJOR(built), FI_MINOR(built));
    if (FI_MAJOR(built) == FI_MAJOR(running) && running >= WEFT_FI_VERSION)
        return 0;
    fprintf(stderr,
            "weft_info: libfabric %u.%u runs, but Weft was built with %u.%u: have both the same "
            "major version, and at least %u.%u.\n",
            FI_MAJOR(running), FI_MINOR(running), FI_MAJOR(built), FI_MINOR(built),
            FI_MAJOR(WEFT_FI_VERSION), FI_MINOR(WEFT_FI_VERSION));
    return 1;
}

/* Loads the driver, as a program that uses the GPU does. */
static void view_gpu(void)
{
    char driver[160];
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        library = dlopen("libamdhip64.so.6", RTLD_NOW);
    weft_gpu_open();
    if (weft_settings.gpu == WEFT_GPU_OFF)
        printf("GPU memory: off (WEFT_GPU)\n");
    else if (weft_gpu_describe(driver, sizeof driver))
        printf("GPU memory: %s\n", driver);
    else
        printf("GPU memory: none, %s\n",
               library ? "the driver is too old" : "no driver of CUDA or HIP");
}

int weft_view_versions(void)
{
    char running[64], built[64], launcher[64], why[1024];
    int bad = view_libfabric();

    weft_boot_versions(running, sizeof running, built, sizeof built);
    printf("%s (built with %s)\n", running, built);
    if (!weft_boot_launcher(launcher, sizeof launcher, why, sizeof why)) {
        fprintf(stderr, "weft_info: %s.\n", why);
        bad = 1;
    }
    printf("launcher: %s\n", launcher);
    view_gpu();
    return bad;
}
