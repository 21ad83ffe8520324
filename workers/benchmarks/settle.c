/* Preloaded into IOzone: the pauses around each test, sleep(2), last as long as the study says. */
#include <stdlib.h>
#include <time.h>

unsigned int sleep(unsigned int seconds) {
    const char *settle_ns = getenv("MODESCOPE_SETTLE_NS");
    long long ns = seconds == 2 && settle_ns ? atoll(settle_ns) : seconds * 1000000000LL;
    struct timespec pause = {ns / 1000000000LL, ns % 1000000000LL};
    return nanosleep(&pause, NULL) ? seconds : 0;
}
