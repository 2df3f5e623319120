"""The assertion by which a service asks Google for an access token, read by google-auth."""

import http.server
import json
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest
import urllib.parse

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from google.auth import jwt

from play import SCOPE

EMAIL = "till@example.iam.gserviceaccount.com"


class ServiceTokenTests(unittest.TestCase):
    def assertion(self, key):
        """Lets a service ask for access at a server that refuses it, and returns the assertion of its request."""
        forms = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                forms.append(urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                answer = b'{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}'
                self.send_response(400)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        with tempfile.TemporaryDirectory() as folder, http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
            url = f"http://127.0.0.1:{server.server_port}"
            account = pathlib.Path(folder, "account.json")
            account.write_text(json.dumps({
                "type": "service_account", "client_email": EMAIL, "private_key_id": "first",
                "private_key": private.decode(), "token_uri": url + "/token"}))
            threading.Thread(target=server.serve_forever, daemon=True).start()
            till, environment = os.environ["TILL"], dict(os.environ, TILL_DATA=folder + "/data")
            subprocess.run([till, "keys", "make", "tests"], env=environment, check=True, capture_output=True)
            result = subprocess.run(
                [till, "reconcile", "--google-service-account", str(account), "--url", url], env=environment,
                capture_output=True, text=True)
            server.shutdown()
        self.assertNotEqual(result.returncode, 0, result.stderr)
        self.assertTrue(forms, result.stderr)
        self.assertEqual(forms[0]["grant_type"], ["urn:ietf:params:oauth:grant-type:jwt-bearer"])
        return forms[0]["assertion"][0]

    def test_the_assertion_is_signed_and_says_what_google_asks_for(self):
        # "Using OAuth 2.0 for server to server applications", developers.google.com/identity/protocols/oauth2/service-account.
        keys = [rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2)]
        public, strangers = (
            key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
            for key in keys)
        token = self.assertion(keys[0])
        self.assertEqual(jwt.decode_header(token), {"alg": "RS256", "typ": "JWT", "kid": "first"})
        claims = jwt.decode(token, certs=public, audience="https://oauth2.googleapis.com/token")
        self.assertEqual((claims["iss"], claims["scope"]), (EMAIL, SCOPE))
        self.assertEqual(claims["exp"] - claims["iat"], 3600)
        with self.assertRaisesRegex(ValueError, "signature"):
            jwt.decode(token, certs=strangers, audience="https://oauth2.googleapis.com/token")


if __name__ == "__main__":
    unittest.main()
