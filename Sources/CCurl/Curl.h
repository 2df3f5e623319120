// libcurl's functions. `curl_easy_setopt` takes values of any type, which Swift cannot call: here is a function for each type.
#ifndef TILL_CURL_H
#define TILL_CURL_H

#include <curl/curl.h>
#include <string.h>

static inline CURLcode till_curl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

static inline CURLcode till_curl_set_number(CURL *handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

// libcurl copies the text.
static inline CURLcode till_curl_set_text(CURL *handle, CURLoption option, const char *value) {
    return curl_easy_setopt(handle, option, value);
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

// The last code that the server has answered with; 0 if it has not.
static inline long till_curl_response_code(CURL *handle) {
    long code = 0;
    return curl_easy_getinfo(handle, CURLINFO_RESPONSE_CODE, &code) == CURLE_OK ? code : 0;
}

#endif
