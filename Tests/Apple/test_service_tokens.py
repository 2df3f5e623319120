"""The token that a service shows to the App Store Server API, read by PyJWT, which makes the tokens of Apple's own library."""

import http.server
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

ROOT = pathlib.Path(__file__).resolve().parents[2]
TILL = os.environ.get("TILL", str(ROOT / ".build/release/till"))
KEY_ID, ISSUER = "ABC1234567", "57246542-96fe-1a63-e053-0824d011072a"


class ServiceTokenTests(unittest.TestCase):
    def token(self, key):
        """Lets a service ask an App Store that refuses everything, and returns the token of its request."""
        shown = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                shown.append(self.headers["Authorization"])
                self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(401)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments):
                pass

        with tempfile.TemporaryDirectory() as folder, http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            file = pathlib.Path(folder, "key.p8")
            file.write_bytes(key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            environment = dict(os.environ, TILL_DATA=folder + "/data")
            subprocess.run([TILL, "keys", "make", "tests"], env=environment, check=True, capture_output=True)
            result = subprocess.run(
                [TILL, "reconcile", "--app-store-key", str(file), "--app-store-key-id", KEY_ID, "--app-store-issuer-id",
                 ISSUER, "--accept", "apple/Sandbox", "--url", f"http://127.0.0.1:{server.server_port}"],
                env=environment, capture_output=True, text=True)
            server.shutdown()
        self.assertIn("does not accept the key", result.stderr)
        self.assertEqual(len(shown), 1)
        kind, token = shown[0].split(" ")
        self.assertEqual(kind, "Bearer")
        return token

    def test_the_token_has_the_header_and_the_claims_that_apple_asks_for(self):
        # "Generating JSON Web Tokens for API requests" in the documentation of the App Store Server API.
        key = ec.generate_private_key(ec.SECP256R1())
        token = self.token(key)
        self.assertEqual(jwt.get_unverified_header(token), {"alg": "ES256", "kid": KEY_ID, "typ": "JWT"})
        claims = jwt.decode(
            token, key.public_key(), algorithms=["ES256"], audience="appstoreconnect-v1", issuer=ISSUER,
            options={"require": ["iss", "iat", "exp", "aud"]})
        self.assertEqual(sorted(claims), ["aud", "bid", "exp", "iat", "iss"])
        self.assertEqual(claims["bid"], "com.memolease.sesac1")
        self.assertEqual(claims["exp"] - claims["iat"], 330)
        stranger = ec.generate_private_key(ec.SECP256R1()).public_key()
        with self.assertRaises(jwt.InvalidSignatureError):
            jwt.decode(token, stranger, algorithms=["ES256"], audience="appstoreconnect-v1")


if __name__ == "__main__":
    unittest.main()
