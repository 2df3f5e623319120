"""Attacks on sessions and forms: forgery, fixation, framing, guessing, and the ends of a session."""

import base64
import hashlib
import hmac
import http.cookies
import re
import struct
import time
import unittest
import urllib.parse

from browser import PASSWORD, Window, logged_in
from shop import shop

HEADERS = {
    "x-frame-options": "DENY", "x-content-type-options": "nosniff", "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin", "cross-origin-resource-policy": "same-origin", "cache-control": "no-store",
}


def code(secret, moment=None):
    """The code of an authenticator app (RFC 6238) for a secret in base 32."""
    key = base64.b32decode(secret.replace(" ", "").upper() + "=" * (-len(secret.replace(" ", "")) % 8))
    digest = hmac.new(key, struct.pack(">Q", int(moment or time.time()) // 30), hashlib.sha1).digest()
    offset = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[offset:offset + 4])[0] & 0x7FFFFFFF) % 1_000_000:06}"


class Access(unittest.TestCase):
    def person(self, name, role="viewer"):
        """A window in which a new person is logged in."""
        window = self.enterContext(Window())
        window.accept(shop().invite(name, role))
        window.log_in(name)
        return window

    def assert_logged_out(self, window):
        window.open("account")
        self.assertIn("/console/log-in", window.page.url)

    def test_every_page_has_the_headers_against_framing(self):
        with Window(logged_in("demo")) as window:
            for path in ("/console", "/console/account", "/console/no-such-page", "/console/log-in"):
                headers = window.context.request.get(path).headers
                for name, value in HEADERS.items():
                    with self.subTest(path, header=name):
                        self.assertEqual(headers.get(name), value)
                policy = headers["content-security-policy"]
                for part in ("default-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'", "object-src 'none'"):
                    with self.subTest(path, policy=part):
                        self.assertIn(part, policy)

    def test_another_site_cannot_frame_a_page(self):
        with Window(logged_in("demo")) as window:
            window.page.route("http://attacker.test/", lambda route: route.fulfill(
                body=f'<iframe src="{shop().url}/console"></iframe>', content_type="text/html"))
            window.page.goto("http://attacker.test/")
            window.page.wait_for_timeout(300)
            frames = [frame for frame in window.page.frames if frame is not window.page.main_frame]
            self.assertTrue(all("Overview" not in frame.content() for frame in frames if not frame.is_detached()))

    def test_another_site_cannot_send_a_form(self):
        with Window(logged_in("demo")) as window:
            window.page.route("http://attacker.test/", lambda route: route.fulfill(
                body=f'<form method="post" action="{shop().url}/console/log-out"><button>x</button></form>', content_type="text/html"))
            window.page.goto("http://attacker.test/")
            with window.page.expect_response("**/log-out") as response:
                window.page.locator("button").click()
            self.assertEqual(response.value.status, 403)
            self.assertEqual(window.open("account").status, 200)

    def test_an_injected_script_does_not_run(self):
        with Window(logged_in("demo")) as window:
            window.open("account")
            window.page.evaluate("""() => { const script = document.createElement("script"); script.textContent = "window.hacked = 1"; document.body.append(script); }""")
            self.assertIsNone(window.page.evaluate("window.hacked ?? null"))
            self.assertTrue(any("Content Security Policy" in fault for fault in window.take_faults()))

    def test_the_cookie_is_kept_from_scripts_and_other_sites(self):
        with Window() as window:
            response = window.context.request.get("/console/log-in")
            cookie = http.cookies.SimpleCookie(response.headers["set-cookie"])["till_console"]
            self.assertTrue(cookie["httponly"])
            self.assertEqual(cookie["samesite"], "Strict")
            self.assertEqual(cookie["path"], "/console")
            self.assertLessEqual(int(cookie["max-age"]), 12 * 3600)
            window.open("log-in")
            self.assertEqual(window.page.evaluate("document.cookie"), "")

    def test_a_form_needs_the_token_of_its_session(self):
        mine = self.person("forger")
        with Window(logged_in("demo")) as other:
            other.open("account")
            foreign = other.token
        mine.open("account")
        fields = {"password": PASSWORD, "new-password": "another password", "repetition": "another password"}
        for name, token in (("none", ""), ("foreign", foreign), ("wrong", "A" * 43), ("long", "A" * 5000)):
            with self.subTest(name):
                answer = mine.post("/console/account/password", fields, token)
                self.assertEqual(answer.status, 403)
                self.assertIn("formExpired", answer.text())
        mine.open("account")
        with self.subTest("a form of another site"):
            answer = mine.post("/console/account/password", fields, headers={"Origin": "https://attacker.test"})
            self.assertEqual(answer.status, 403)
        with self.subTest("a form that a browser marks as of another site"):
            answer = mine.post("/console/account/password", fields, headers={"Sec-Fetch-Site": "cross-site"})
            self.assertEqual(answer.status, 403)
        self.assertEqual(mine.open("account").status, 200)

    def test_a_form_without_a_session_is_refused(self):
        with Window() as window:
            window.open("log-in")
            self.assertEqual(window.post("/console/account/password", {"password": "x"}).status, 401)

    def test_logging_in_replaces_the_cookie_of_a_visitor(self):
        """An attacker who has set a cookie before the log-in (session fixation) has nothing."""
        shop_name = "fixated"
        link = shop().invite(shop_name, "viewer")
        with Window() as attacker, Window() as victim:
            attacker.open("log-in")
            planted = attacker.context.cookies()
            victim.context.add_cookies(planted)
            victim.accept(link)
            victim.log_in(shop_name)
            value = {cookie["name"]: cookie["value"] for cookie in victim.context.cookies()}["till_console"]
            self.assertNotEqual(value, planted[0]["value"])
            self.assert_logged_out(attacker)
            self.assertEqual(victim.open("account").status, 200)
            # Another log-in in the same browser ends the session before.
            first = victim.context.storage_state()
            victim.log_in(shop_name)
            with Window(first) as earlier:
                self.assert_logged_out(earlier)

    def test_logging_out_ends_the_session(self):
        window = self.person("leaver")
        state = window.context.storage_state()
        window.open("account")
        window.page.locator(".menu summary").click()
        window.page.get_by_role("button", name="Log out").click()
        window.page.wait_for_url("**/log-in")
        with Window(state) as copy:
            self.assert_logged_out(copy)

    def test_another_password_ends_every_session(self):
        window = self.person("changer")
        state = window.context.storage_state()
        window.open("account")
        fields = {"password": PASSWORD, "new-password": "another long password", "repetition": "another long password"}
        window.send("account/password", {**fields, "repetition": "something else"}, fails=True)
        window.send("account/password", fields)
        for each in (window, self.enterContext(Window(state))):
            self.assert_logged_out(each)
        window.log_in("changer", "another long password")

    def test_codes_of_an_authenticator_app(self):
        window = self.person("coder")
        window.open("account")
        secret = window.page.locator("code.secret").inner_text()
        window.send("account/codes", {"password": PASSWORD, "code": "000000"}, fails=True)
        window.send("account/codes", {"password": PASSWORD, "code": code(secret)})
        with Window() as another, another.expecting(401):
            another.open("log-in")
            another.page.locator("#name").fill("coder")
            another.page.locator("#password").fill(PASSWORD)
            another.page.locator("#main button.primary").click()
            another.page.locator(".problem").wait_for()
            # A code is valid once, and the next one is accepted before its time.
            another.page.locator("#password").fill(PASSWORD)
            another.page.locator("#code").fill(code(secret, time.time() + 30))
            another.page.locator("#main button.primary").click()
            another.page.locator(".sections").wait_for()

    def test_a_one_time_link_works_once(self):
        for has_script in (True, False):
            name = "once" if has_script else "once-without-script"
            link = shop().invite(name, "viewer")
            with self.subTest(script=has_script), Window(has_script=has_script) as window:
                requested = []
                window.page.on("request", lambda request: requested.append(request.url))
                window.accept(link)
                self.assertTrue(requested)
                code = link.split("#")[1]
                self.assertFalse([url for url in requested if code in url.split("#")[0]])
                window.log_in(name)
                window.page.goto(link)
                values = {"new-password": PASSWORD, "repetition": PASSWORD, "code": code}
                self.assertIn("invitationInvalid", window.send("console/invitation", values, fails=True))

    def test_another_link_in_the_same_window_replaces_the_code(self):
        with Window() as window:
            for name in ("first-link", "second-link"):
                link = shop().invite(name, "viewer")
                window.page.goto(link)
                window.page.wait_for_function("(code) => document.getElementById('code').value === code", arg=link.split("#")[1])
                self.assertNotIn("#", window.page.url)
            # A link within the page is no code.
            window.page.evaluate("location.hash = 'main'")
            self.assertEqual(window.page.locator("#code").input_value(), link.split("#")[1])
            self.assertEqual(window.take_faults(), [])

    def test_a_removed_person_is_out_at_once(self):
        window = self.person("removed")
        shop().till("console", "remove-user", "removed")
        self.assert_logged_out(window)

    def test_the_log_in_leads_only_to_pages_of_the_console(self):
        shop().invite("linked", "viewer")
        for address in ("https://attacker.test/", "//attacker.test/", "/\\attacker.test", "/v1/user", "javascript:alert(1)", "/console/../v1"):
            with self.subTest(address), Window() as window:
                window.open("log-in?next=" + urllib.parse.quote(address, safe=""))
                self.assertRegex(window.page.locator("input[name=next]").input_value(), r"^/console")
                self.assertEqual(window.take_faults(), [])

    def test_a_page_is_shown_after_the_log_in(self):
        with Window() as window:
            window.open("account")
            self.assertIn("/console/log-in?next=", window.page.url)
            window.page.locator("#name").fill(shop().name)
            window.page.locator("#password").fill(shop().password)
            window.page.locator("#main button.primary").click()
            window.page.locator(".sections").wait_for()
            self.assertRegex(window.page.url, r"/console/account$")

    def test_guessing_is_limited(self):
        shop().invite("guessed", "viewer")
        with Window() as window, window.expecting(401, 429):
            window.open("log-in")
            statuses = [window.post("/console/log-in", {"name": "guessed", "password": f"guess {number}", "code": ""}) for number in range(12)]
            self.assertEqual({answer.status for answer in statuses[:10]}, {401})
            self.assertEqual(statuses[-1].status, 429)
            # Unknown names get the same answer.
            answer = window.post("/console/log-in", {"name": "nobody", "password": "guess", "code": ""})
            self.assertEqual(answer.status, 401)
            self.assertEqual(*[re.sub(r'value="[^"]*"', "", each.text()) for each in (answer, statuses[0])])
