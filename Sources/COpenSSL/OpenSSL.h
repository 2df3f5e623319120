// OpenSSL's functions, and the few of its macros that Swift cannot import, as functions.
#ifndef TILL_OPENSSL_H
#define TILL_OPENSSL_H

// The hash's own state, which OpenSSL 3 still has and calls deprecated, can be copied like any value; its newer one cannot. The
// tables of a group's multiples are deprecated, too.
#define OPENSSL_SUPPRESS_DEPRECATED

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

typedef STACK_OF(X509) TillCertificateStack;

static inline TillCertificateStack *till_certificate_stack_new(void) { return sk_X509_new_null(); }
static inline int till_certificate_stack_push(TillCertificateStack *stack, X509 *certificate) {
    return sk_X509_push(stack, certificate);
}
static inline int till_certificate_stack_count(const TillCertificateStack *stack) { return sk_X509_num(stack); }
static inline X509 *till_certificate_stack_value(const TillCertificateStack *stack, int index) {
    return sk_X509_value(stack, index);
}
static inline void till_certificate_stack_free(TillCertificateStack *stack) { sk_X509_free(stack); }

typedef STACK_OF(OPENSSL_STRING) TillStringStack;

static inline TillStringStack *till_ocsp_responders(X509 *certificate) { return X509_get1_ocsp(certificate); }
static inline int till_string_stack_count(const TillStringStack *stack) { return sk_OPENSSL_STRING_num(stack); }
static inline const char *till_string_stack_value(const TillStringStack *stack, int index) {
    return sk_OPENSSL_STRING_value(stack, index);
}
static inline void till_string_stack_free(TillStringStack *stack) { X509_email_free(stack); }

// Tickets and kept sessions would let a stolen key decrypt recorded traffic; each further connection signs once more in their place.
static inline SSL_CTX *till_tls_server_context(int minimum_version, const char *suites, const char *groups) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (context == NULL) return NULL;
    SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    // The file has the chain; no roots are loaded in which each handshake could look for the rest of it.
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN);
    if (SSL_CTX_set_num_tickets(context, 0) == 1 && SSL_CTX_set_min_proto_version(context, minimum_version) == 1 &&
        SSL_CTX_set_cipher_list(context, suites) == 1 && SSL_CTX_set1_groups_list(context, groups) == 1) {
        return context;
    }
    SSL_CTX_free(context);
    return NULL;
}
static inline int till_tls_add_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add1_chain_cert(context, certificate);
}

// Weak, so that a version of OpenSSL without these functions means a process without tables.
__attribute__((weak)) int EC_GROUP_precompute_mult(EC_GROUP *group, BN_CTX *numbers);
__attribute__((weak)) int EC_GROUP_have_precompute_mult(const EC_GROUP *group);

static inline int till_group_make_table(EC_GROUP *group) {
    return EC_GROUP_precompute_mult ? EC_GROUP_precompute_mult(group, NULL) : 0;
}
static inline int till_group_has_table(const EC_GROUP *group) {
    return EC_GROUP_have_precompute_mult ? EC_GROUP_have_precompute_mult(group) : 0;
}

static inline long till_bio_bytes(BIO *bio, char **bytes) { return BIO_get_mem_data(bio, bytes); }

#endif
