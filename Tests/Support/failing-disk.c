// A disk that fails on demand, put before a program with LD_PRELOAD: while the file that $FAILING_DISK names exists, what it
// holds says how. "sync" fails each sync of a write-ahead log, "full" each write to one, "checkpoint" each write to a database
// itself.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fails(int file, const char *how, const char *suffix) {
    const char *switch_path = getenv("FAILING_DISK");
    char link[64], path[4096], content[16] = {0};
    if (!switch_path) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t end = strlen(suffix);
    if ((size_t)length < end || strcmp(path + length - end, suffix)) return 0;
    FILE *opened = fopen(switch_path, "r");
    if (!opened) return 0;
    fread(content, 1, sizeof content - 1, opened);
    fclose(opened);
    return !strncmp(content, how, strlen(how));
}

#define SYNC(name)                                                    \
    int name(int file) {                                              \
        if (fails(file, "sync", "-wal")) return errno = EIO, -1;              \
        return ((int (*)(int))dlsym(RTLD_NEXT, #name))(file);         \
    }
SYNC(fsync)
SYNC(fdatasync)

#define PWRITE(name)                                                                                       \
    ssize_t name(int file, const void *bytes, size_t count, off_t offset) {                                \
        if (fails(file, "full", "-wal") || fails(file, "checkpoint", ".sqlite")) return errno = ENOSPC, -1; \
        return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, #name))(file, bytes, count, offset); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)
