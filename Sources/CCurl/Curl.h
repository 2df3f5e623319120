// libcurl's functions. `curl_easy_setopt` takes values of any type, which Swift cannot call: here is a function for each type.
#ifndef TILL_CURL_H
#define TILL_CURL_H

#include <curl/curl.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

// A write to a closed connection must not end the process. libcurl leaves signals alone (CURLOPT_NOSIGNAL), and OpenSSL's writes
// have no flag against this one.
//
// libcurl reads SSLKEYLOGFILE here alone (`Curl_tls_keylog_open`), and would write the keys of all connections to that file. They
// decrypt tokens and signatures in recorded traffic. No other thread may read the environment meanwhile (POSIX, unsetenv), so programs
// start libcurl before they have threads.
static inline CURLcode till_curl_start(void) {
    signal(SIGPIPE, SIG_IGN);
    if (getenv("SSLKEYLOGFILE")) unsetenv("SSLKEYLOGFILE");
    return curl_global_init(CURL_GLOBAL_DEFAULT);
}

// Starts a thread that nobody joins. Returns false if the system has none left, which Foundation's `Thread` does not tell.
static inline bool till_curl_start_thread(void *(*run)(void *), void *context) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return false;
    pthread_t thread;
    bool starts = !pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED)
        && !pthread_create(&thread, &attributes, run, context);
    pthread_attr_destroy(&attributes);
    return starts;
}

static inline CURLcode till_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode till_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode till_curl_set_size(CURL *handle, CURLoption option, long long value) {
    return curl_easy_setopt(handle, option, (curl_off_t)value);
}

// libcurl copies the bytes.
static inline CURLcode till_curl_set_bytes(CURL *handle, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(handle, option, &blob);
}

// libcurl reads the list until the transfer has ended.
static inline CURLcode till_curl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

// The bytes that a transfer sends, and how many of them libcurl has read.
typedef struct {
    const unsigned char *bytes;
    size_t count;
    size_t position;
} TillCurlSource;

static inline size_t till_curl_read(char *buffer, size_t size, size_t items, void *context) {
    TillCurlSource *source = (TillCurlSource *)context;
    size_t room = size * items;
    size_t left = source->count - source->position;
    size_t count = left < room ? left : room;
    memcpy(buffer, source->bytes + source->position, count);
    source->position += count;
    return count;
}

// libcurl reads the source until the transfer has ended.
static inline CURLcode till_curl_set_source(CURL *handle, TillCurlSource *source) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_READFUNCTION, till_curl_read);
    if (code != CURLE_OK) return code;
    code = curl_easy_setopt(handle, CURLOPT_READDATA, source);
    if (code != CURLE_OK) return code;
    return curl_easy_setopt(handle, CURLOPT_UPLOAD, 1L);
}

static inline curl_socket_t till_curl_open_socket(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context;
    (void)purpose;
#ifdef SOCK_CLOEXEC
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
#else
    curl_socket_t made = socket(address->family, address->socktype, address->protocol);
    if (made != CURL_SOCKET_BAD) fcntl(made, F_SETFD, FD_CLOEXEC);
    return made;
#endif
}

// A program that this process starts inherits no connection.
static inline CURLcode till_curl_set_private_sockets(CURL *handle) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, till_curl_open_socket);
}

// Takes the next bytes of an answer, and returns their number; another one ends the transfer.
typedef size_t (*TillCurlSink)(char *bytes, size_t size, size_t count, void *context);

// The head comes line by line.
static inline CURLcode till_curl_set_sinks(CURL *handle, TillCurlSink head, TillCurlSink body, void *context) {
    CURLcode code = curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, head);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_HEADERDATA, context);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, body);
    if (code == CURLE_OK) code = curl_easy_setopt(handle, CURLOPT_WRITEDATA, context);
    return code;
}

static inline CURLMcode till_curl_limit(CURLM *transfers, CURLMoption option, long value) {
    return curl_multi_setopt(transfers, option, value);
}

// The protocols HTTP and HTTPS alone. The text is new in libcurl 7.85.
static inline CURLcode till_curl_set_http(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075500
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS_STR, "http,https");
#else
    return curl_easy_setopt(handle, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

// Lets a transfer end before its name is resolved. Otherwise all transfers of its thread wait for the name server (`Curl_resolver_kill`).
// The thread that asks the name server frees its memory itself. New in libcurl 7.87; nothing else helps before.
//
// Before libcurl 8.14, that memory may be freed while libcurl reads it (`destroy_async_data`), if the lookup ends at this very moment. The
// limits of connections are thus other ones than those of the resolver, which are multiples of 5 s.
static inline void till_curl_end_lookups_at_once(CURL *handle) {
#if LIBCURL_VERSION_NUM >= 0x075700
    curl_easy_setopt(handle, CURLOPT_QUICK_EXIT, 1L);
#endif
}

// The last code that the server has answered with; 0 if it has not.
static inline long till_curl_response_code(CURL *handle) {
    long code = 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK ? code : 0;
}

#endif
