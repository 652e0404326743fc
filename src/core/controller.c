/* SPDX-License-Identifier: MIT */
/* controller.c - the table of what learns: a number is the same in every process, no pointer is. */
#include "core/controller.h"

#include <assert.h>
#include <stddef.h>

#define X(name) &fb_controller_##name,
const struct controller *const fb_controllers[FB_CONTROLLER_COUNT + 1] = {NULL, FB_CONTROLLERS(X)};
#undef X

uint8_t fb_controller_number(const struct controller *c)
{
    uint8_t number = 0;

    while (fb_controllers[number] != c) {
        number++;
        assert(number <= FB_CONTROLLER_COUNT);
    }
    return number;
}
