"""Writes the tokens of `oracle-tokens.json`, which Till has to judge as two other libraries do.

  python3 -m venv /tmp/oracle && /tmp/oracle/bin/pip install pycryptodome==4.4.0 'pyjwt[crypto]==2.15.1'
  /tmp/oracle/bin/python Tests/HTTPSupport/oracle_tokens.py >Tests/HTTPSupport/oracle-tokens.json
pycryptodome, which has its own cryptography, signs; PyJWT accepts or refuses before a token is written. The private keys are lost.
"""

import base64
import json

import jwt
from Crypto.Hash import SHA256, SHA384, SHA512
from Crypto.PublicKey import ECC, RSA
from Crypto.Signature import DSS, eddsa, pkcs1_15, pss

KEY_ID = "oracle"
DIGESTS = {"256": SHA256, "384": SHA384, "512": SHA512}
RSA_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
CURVES = {"ES256": ("P-256", 32), "ES384": ("P-384", 48), "ES512": ("P-521", 66)}
# The time and the words of `ManualClock` and `TestIssuer`.
CLAIMS = {
    "iss": "https://accounts.example.com", "sub": "alice", "aud": "com.memolease.sesac1", "exp": 1_790_000_060,
}


def encode(content):
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def number(value, size=None):
    return encode(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


def generate(algorithm):
    if algorithm in RSA_ALGORITHMS:
        return RSA.generate(2048)
    return ECC.generate(curve=CURVES[algorithm][0] if algorithm in CURVES else "Ed25519")


def public_key(algorithm, key):
    """The public half as a JWK (RFC 7517)."""
    common = {"alg": algorithm, "kid": KEY_ID}
    if algorithm in RSA_ALGORITHMS:
        return {**common, "kty": "RSA", "n": number(key.n), "e": number(key.e)}
    if algorithm in CURVES:
        curve, size = CURVES[algorithm]
        point = key.pointQ
        return {**common, "kty": "EC", "crv": curve, "x": number(int(point.x), size), "y": number(int(point.y), size)}
    return {**common, "kty": "OKP", "crv": "Ed25519", "x": encode(key.public_key().export_key(format="raw"))}


def signature(algorithm, key, message):
    if algorithm == "EdDSA":
        return eddsa.new(key, "rfc8032").sign(message)
    digest = DIGESTS[algorithm[2:]].new(message)
    signer = {"RS": pkcs1_15.new, "PS": pss.new}.get(algorithm[:2], lambda key: DSS.new(key, "fips-186-3", "binary"))
    return signer(key).sign(digest)


def token(algorithm, key, header=None, payload=None, accepts=lambda signature: True):
    """A token whose signature is accepted by a function of it."""
    header = header or {"alg": algorithm, "typ": "JWT", "kid": KEY_ID}
    for attempt in range(100_000):
        body = payload or {"n": attempt}
        message = ".".join(encode(json.dumps(part, separators=(",", ":")).encode()) for part in (header, body))
        signed = signature(algorithm, key, message.encode())
        if accepts(signed):
            return f"{message}.{encode(signed)}"
    raise SystemExit(f"no signature of {algorithm} is as wanted")


def is_accepted(text, algorithm, key):
    try:
        jwt.PyJWS().decode_complete(text, jwt.PyJWK(public_key(algorithm, key)), algorithms=[algorithm])
    except jwt.InvalidTokenError:
        return False
    return True


def checked(text, algorithm, key, expected=True):
    if is_accepted(text, algorithm, key) != expected:
        raise SystemExit(f"PyJWT has another opinion of {algorithm} {text}")
    return text


rsa, other_rsa = generate("RS256"), generate("RS256")
issuers = {}
for algorithm in [*RSA_ALGORITHMS, *CURVES, "EdDSA"]:
    pair = (rsa, other_rsa) if algorithm in RSA_ALGORITHMS else (generate(algorithm), generate(algorithm))
    key, stranger = pair
    issuer = {
        "key": public_key(algorithm, key), "token": checked(token(algorithm, key, payload=CLAIMS), algorithm, key),
        "strangersToken": checked(token(algorithm, stranger, payload=CLAIMS), algorithm, stranger),
    }
    checked(issuer["strangersToken"], algorithm, key, expected=False)
    if algorithm in RSA_ALGORITHMS:
        zero = token(algorithm, key, {"alg": algorithm}, accepts=lambda signature: signature[0] == 0)
        issuer["tokenWithLeadingZero"] = checked(zero, algorithm, key)
    issuers[algorithm] = issuer

# One key for all, so that the name alone is wrong.
misnamed = [(signing, named) for signing in RSA_ALGORITHMS for named in RSA_ALGORITHMS if named != signing]
misnamed += [("RS256", named) for named in ["none", "None", "HS256", "rs256", "", "RS256 "]]
misnamed = [
    {"signing": signing, "named": named, "token": checked(token(signing, rsa, {"alg": named}), signing, rsa, False)}
    for signing, named in misnamed
]
print(json.dumps({"issuers": issuers, "misnamed": misnamed}, indent=2))
