// libFuzzer's entry for programs with a main of their own (LLVM, "Using libFuzzer as a library").
#ifndef TILL_LIBFUZZER_H
#define TILL_LIBFUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*user_callback)(const uint8_t *data, size_t size));

#endif
