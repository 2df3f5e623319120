"""A browser for measurements: it keeps cookies, and sends the tokens of the console's forms."""
import html
import http.client
import re
import sys
import time
import urllib.parse


class Browser:
    def __init__(self, address):
        parts = urllib.parse.urlsplit(address)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        self.cookies = {}

    def request(self, method, path, body=None, headers=None):
        """The response, its text, and the milliseconds until its last byte."""
        headers = {"Sec-Fetch-Dest": "document", "Origin": self.origin, **(headers or {})}
        if self.cookies:
            headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        started = time.perf_counter()
        self.connection.request(method, path, body, headers)
        response = self.connection.getresponse()
        text = response.read()
        milliseconds = (time.perf_counter() - started) * 1000
        for cookie in response.headers.get_all("Set-Cookie") or []:
            name, value = cookie.split(";")[0].split("=", 1)
            self.cookies[name] = value
        return response, text.decode(errors="replace"), milliseconds

    def get(self, path):
        """The text of a page."""
        return self.answer("GET", path)[0]

    def answer(self, method, path, body=None, headers=None):
        """The text of a page, and the milliseconds of its answer."""
        response, text, milliseconds = self.request(method, path, body, headers)
        if response.status != 200:
            sys.exit(f"bench-console: {path} is answered with {response.status}: {plain(text)}")
        return text, milliseconds

    def send(self, path, fields, page):
        """Sends the form of a page, and returns the path that the answer names."""
        body = urllib.parse.urlencode({**fields, "form-token": self.token(page)})
        response, text, _ = self.request("POST", path, body, {"Content-Type": "application/x-www-form-urlencoded"})
        if response.status != 303:
            sys.exit(f"bench-console: the form {path} is answered with {response.status}: {plain(text)}")
        return response.headers["Location"]

    def token(self, page):
        return re.search(r'name="form-token" value="([^"]+)"', self.get(page))[1]

    def link(self, page, pattern):
        """The first link of a page whose address contains a pattern; None without one."""
        for address in re.findall(r'href="([^"]+)"', self.get(page)):
            if re.search(pattern, html.unescape(address)):
                return html.unescape(address).split("#")[0]
        return None


def plain(text):
    """The sentences of a page."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).strip()[-400:]
