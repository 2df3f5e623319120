// A disk that fails on demand, loaded before a program with LD_PRELOAD. While the file that $FAILING_DISK names exists, its
// content selects the failure:
// "sync" fails each sync of a write-ahead log; "full" fails each write to one; "checkpoint" fails each write to a database.
// "almost full" leaves no free space to unprivileged processes, as far as they ask.
// "read-only" refuses writes, and refuses to open files for writing. "damaged" returns other bytes than were written.
// "hang" blocks each read while the file says so, and adds one byte per blocked call to the file with the suffix ".hanging".
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/types.h>
#include <unistd.h>

static int is_set(const char *how) {
    const char *switch_path = getenv("FAILING_DISK");
    char content[16] = {0};
    FILE *opened = switch_path ? fopen(switch_path, "r") : NULL;
    if (!opened) return 0;
    fread(content, 1, sizeof content - 1, opened);
    fclose(opened);
    return !strncmp(content, how, strlen(how));
}

static int fails(int file, const char *how, const char *suffix) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    size_t end = strlen(suffix);
    if ((size_t)length < end || strcmp(path + length - end, suffix)) return 0;
    return is_set(how);
}

#define STATVFS(name, type)                                                                            \
    int name(const char *path, struct type *system) {                                                  \
        int failed = ((int (*)(const char *, struct type *))dlsym(RTLD_NEXT, #name))(path, system);    \
        if (!failed && is_set("almost full")) system->f_bavail = 0;                                    \
        return failed;                                                                                 \
    }
STATVFS(statvfs, statvfs)
STATVFS(statvfs64, statvfs64)

static int is_read_only(int file) {
    return fails(file, "read-only", "-wal") || fails(file, "read-only", ".sqlite");
}

#define OPEN(name)                                                                             \
    int name(const char *path, int flags, ...) {                                               \
        va_list rest;                                                                          \
        va_start(rest, flags);                                                                 \
        mode_t mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;                              \
        va_end(rest);                                                                          \
        int writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT;                       \
        if (writes && strstr(path, "ledger.sqlite") && is_set("read-only")) return errno = EROFS, -1; \
        return ((int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, #name))(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

static void hang(int file) {
    char path[4096];
    if (!fails(file, "hang", "-wal") && !fails(file, "hang", ".sqlite")) return;
    snprintf(path, sizeof path, "%s.hanging", getenv("FAILING_DISK"));
    FILE *waiting = fopen(path, "a");
    if (waiting) {
        fputc('.', waiting);
        fclose(waiting);
    }
    while (is_set("hang")) usleep(10000);
}

#define PREAD(name)                                                                                    \
    ssize_t name(int file, void *bytes, size_t count, off_t offset) {                                  \
        hang(file);                                                                                    \
        ssize_t read = ((ssize_t(*)(int, void *, size_t, off_t))dlsym(RTLD_NEXT, #name))(file, bytes, count, offset); \
        if (read > 0 && (fails(file, "damaged", "-wal") || fails(file, "damaged", ".sqlite"))) memset(bytes, 0x55, read); \
        return read;                                                                                   \
    }
PREAD(pread)
PREAD(pread64)

#define SYNC(name)                                                    \
    int name(int file) {                                              \
        if (fails(file, "sync", "-wal")) return errno = EIO, -1;              \
        return ((int (*)(int))dlsym(RTLD_NEXT, #name))(file);         \
    }
SYNC(fsync)
SYNC(fdatasync)

#define PWRITE(name)                                                                                       \
    ssize_t name(int file, const void *bytes, size_t count, off_t offset) {                                \
        if (is_read_only(file)) return errno = EROFS, -1;                                                  \
        if (fails(file, "full", "-wal") || fails(file, "checkpoint", ".sqlite")) return errno = ENOSPC, -1; \
        return ((ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, #name))(file, bytes, count, offset); \
    }
PWRITE(pwrite)
PWRITE(pwrite64)
