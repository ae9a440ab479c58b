/* Preloaded before the system's library: the wall clock jumps an hour ahead and back at every call;
 * the monotonic one is unchanged. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    static int calls;
    if (real == NULL)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, now);
    if (clock == CLOCK_REALTIME)
        now->tv_sec += __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) % 2 ? 3600 : -3600;
    return result;
}
