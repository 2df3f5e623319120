# An issuer of users' tokens on this machine, for the demo and the tests; sourced by bash.

urlsafe() { basenc --base64url --wrap=0 | tr -d '='; }

# Makes an RSA key, FOLDER/issuer.pem, and its public half as a JWK Set, FOLDER/keys.json.
#   make_issuer FOLDER
make_issuer() {
    local modulus
    openssl genpkey -algorithm RSA -pkeyopt rsa_keygen_bits:2048 -out "$1/issuer.pem" 2>/dev/null
    modulus=$(openssl rsa -in "$1/issuer.pem" -modulus -noout | cut -d= -f2 | basenc --base16 --decode | urlsafe)
    printf '{"keys":[{"kty":"RSA","alg":"RS256","kid":"1","n":"%s","e":"AQAB"}]}' "$modulus" >"$1/keys.json"
}

# Prints a token that ends so many seconds from now.
#   issue FOLDER ISSUER AUDIENCE USER SECONDS
issue() {
    local header claims now
    now=$(date +%s)
    header=$(printf '{"alg":"RS256","kid":"1"}' | urlsafe)
    claims=$(printf '{"iss":"%s","aud":"%s","sub":"%s","iat":%s,"auth_time":%s,"exp":%s}' \
        "$2" "$3" "$4" $((now - 3600)) $((now - 3600)) $((now + $5)) | urlsafe)
    printf '%s.%s.%s' "$header" "$claims" \
        "$(printf '%s.%s' "$header" "$claims" | openssl dgst -sha256 -sign "$1/issuer.pem" | urlsafe)"
}
