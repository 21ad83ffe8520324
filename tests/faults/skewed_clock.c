/* Shifts the time of day by FAULTS_CLOCK_OFFSET_S seconds; monotonic clocks stay as they are. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long offset_s(void) {
    const char *given = getenv("FAULTS_CLOCK_OFFSET_S");
    return given ? atol(given) : 0;
}

int clock_gettime(clockid_t id, struct timespec *now) {
    int status = (int)syscall(SYS_clock_gettime, id, now);
    if (status == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
        now->tv_sec += offset_s();
    return status;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    (void)zone;
    struct timespec precise;
    int status = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return status;
}

time_t time(time_t *kept) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (kept)
        *kept = precise.tv_sec;
    return precise.tv_sec;
}
