/* A tank with an inflow, as a system for bbfalsify:  cc -o tank tank.c -lm  */

#include "bbfalsify.h"

static double level;

static const char *reset(unsigned long long seed, double *outputs) {
    (void)seed;
    outputs[0] = level = 0.0;
    return NULL;
}

static const char *step(const double *inputs, double duration, double *outputs) {
    outputs[0] = level += inputs[0] * duration;
    return level < 0 ? "the tank is empty" : NULL;
}

int main(void) {
    static const bbf_port inputs[] = {{"inflow", "m3/s"}}, outputs[] = {{"level", "m3"}};
    bbf_system tank = {"tank", inputs, 1, outputs, 1, reset, step, 0};
    return bbf_serve(&tank);
}
