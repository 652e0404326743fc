/* SPDX-License-Identifier: MIT */
/*
 * seeds.c - the inputs that are kept beside a fuzz target, each once, without a fuzzer.
 *
 * They are what once failed and what reaches most, so they go through the target with every test;
 * `make fuzz` looks for more. What is named is read to the length that the fuzzer tries.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LENGTH_MAX 4096
#define PATIENCE_S 60 /* of one input; SIGALRM ends the program */

static int try_file(const char *name)
{
    uint8_t room[LENGTH_MAX];
    FILE *file = fopen(name, "rb");

    if (!file) {
        perror(name);
        return 1;
    }
    size_t size = fread(room, 1, sizeof(room), file);
    fclose(file);
    /* It ends where the room ends: whoever reads on is seen by the sanitizer. */
    uint8_t *data = room + sizeof(room) - size;
    memmove(data, room, size);
    fprintf(stderr, "%s\n", name); /* the last that is named is the one that failed */
    alarm(PATIENCE_S);
    return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
    static const uint8_t NOTHING[1];

    if (argc < 2) { /* their folder has another name by now: nothing would be tested */
        fprintf(stderr, "%s: there are no seeds\n", argv[0]);
        return 1;
    }
    if (LLVMFuzzerTestOneInput(NOTHING + 1, 0) != 0)
        return 1;
    for (int i = 1; i < argc; i++)
        if (try_file(argv[i]) != 0)
            return 1;
    return 0;
}
