"""Chromium, and windows of it that note whatever must not happen on a page."""

import contextlib
import datetime
import functools
import http.server
import os
import pathlib
import queue
import re
import threading
import urllib.parse

from playwright.sync_api import sync_playwright

import routes
from shop import PASSWORD, shop

EXAMINATION = (pathlib.Path(__file__).parent / "examination.js").read_text()
BALANCE_PRODUCT = "com.memolease.sesac1.seeds10"
ITEM_PRODUCT = "com.memolease.sesac1.sprout4"
SUBSCRIPTION = "com.memolease.sesac1.gardener.monthly"
# A picture of one pixel.
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763606060000000040001f61738550000000049454e44ae426082")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@functools.cache
def playwright():
    return sync_playwright().start()


@functools.cache
def browsers():
    return []


def chromium():
    """The browser of all tests. It ends with this process. One that crashed fails a single test."""
    if not browsers() or not browsers()[-1].is_connected():
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browsers().append(playwright().chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=[*arguments, "--disable-gpu", "--disable-dev-shm-usage"]))
    return browsers()[-1]


class Window:
    """A window with cookies of its own."""

    def __init__(self, state=None, is_phone=False, is_dark=False, is_korean=False, has_script=True):
        self.is_phone, self.is_korean, self.has_script = is_phone, is_korean, has_script
        self.context = chromium().new_context(
            base_url=shop().url, storage_state=state, viewport=PHONE if is_phone else DESKTOP, is_mobile=is_phone,
            has_touch=is_phone, color_scheme="dark" if is_dark else "light", locale="ko-KR" if is_korean else "en-GB",
            java_script_enabled=has_script, reduced_motion="reduce", timezone_id="Asia/Seoul")
        # Ends what hangs. A machine under load takes many seconds for a page, which is no fault.
        self.context.set_default_timeout(120_000)
        self.page = self.context.new_page()
        self.faults = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.faults.append(f"an error of the script: {error}"))
        self.page.on("request", self._request)
        self.page.on("response", self._response)
        # A dialog would be the work of injected text.
        self.page.on("dialog", self._dialog)
        # Statuses that a test expects; the browser reports each as an error of its console.
        self.expected = set()

    def _console(self, message):
        expected = any(f"status of {status}" in message.text for status in self.expected)
        if message.type in ("error", "warning") and not expected:
            self.faults.append(f"the browser's console: {message.text}")

    def _request(self, request):
        if not request.url.startswith((shop().url + "/console", "data:", "blob:")):
            self.faults.append(f"a request to {request.url}")

    def _response(self, response):
        if response.status >= 400 and response.status not in self.expected:
            self.faults.append(f"{response.status} of {response.url}")
        policy = response.headers.get("content-security-policy", "")
        # Pictures are kept from everything: an SVG may contain styles, and no script runs in a sandbox.
        is_strict = "default-src 'self'" in policy and "unsafe" not in policy or "default-src 'none'" in policy and "sandbox" in policy
        if not is_strict:
            self.faults.append(f"the policy of {response.url} is \"{policy}\"")

    def _dialog(self, dialog):
        self.faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    def close(self):
        self.context.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self, path):
        """Opens a path of the console, and returns the response."""
        return self.page.goto(path if path.startswith("/") else f"/console/{path}".rstrip("/"), wait_until="load")

    @contextlib.contextmanager
    def expecting(self, *statuses):
        """Lets responses have these statuses."""
        self.expected |= set(statuses)
        yield
        self.expected -= set(statuses)

    def take_faults(self):
        faults, self.faults = self.faults, []
        return faults

    def examine(self, opened=False):
        """The defects of the page. `opened` opens all details first."""
        if opened:
            self.page.evaluate("document.querySelectorAll('details').forEach((details) => details.open = true)")
        return self.page.evaluate(EXAMINATION, {"isPhone": self.is_phone, "isKorean": self.is_korean})

    def links(self, with_pictures=False):
        """The addresses within the console to which the page links, without fragments."""
        addresses = self.page.evaluate("""(selector) => [...document.querySelectorAll(selector)].map((link) => link.href ?? link.src)""",
            "a[href], img[src]" if with_pictures else "a[href]")
        addresses = dict.fromkeys(address.split("#")[0] for address in addresses)
        return [address.removeprefix(shop().url) for address in addresses if address.startswith(shop().url + "/console")]

    def forms(self):
        """The forms that change something: route and address of each, with the addresses of their buttons."""
        addresses = self.page.evaluate("""[...document.querySelectorAll('form[method=post]')].flatMap((form) =>
            [form.action, ...[...form.querySelectorAll('[formaction]')].map((button) => button.formAction)])""")
        found = {}
        for address in addresses:
            path = urllib.parse.urlsplit(address).path
            found.setdefault(routes.posting(path), path)
        return found

    @property
    def token(self):
        """The token of the page's forms."""
        return self.page.locator("input[name=form-token]").first.input_value()

    def post(self, path, fields, token=None, headers=None):
        """Sends a form by itself, with the cookies of the window, and returns the answer without following it."""
        fields = dict(fields)
        if token != "":
            fields["form-token"] = token or self.token
        return self.context.request.post(path, form=fields, max_redirects=0, headers=headers or {})

    def form(self, address, kind=None):
        """The first form that is sent to an address with this end, with the details around it opened.

        `kind` is that of an action at a store: a page has the forms of several.
        """
        having = f':has(input[name=kind][value="{kind}"])' if kind else ""
        form = self.page.locator(
            f'#main form[method=post][action$="{address}"]{having}, #main form[method=post][action*="{address}?"]{having}').first
        if not form.count():
            raise AssertionError(f"{self.page.url} has no form to {address}: {self.text()[:2000]}")
        for details in form.locator("xpath=ancestor::details").all():
            if details.get_attribute("open") is None:
                details.locator("summary").first.click()
        return form

    def fields(self, address, **values):
        """The fields of a form as they are on the page, besides the given values."""
        return self.form(address).evaluate("(form) => Object.fromEntries(new FormData(form))") | values

    def send(self, address, values=None, button=None, fails=False, kind=None):
        """Fills in a form and sends it as a person does, and returns the notice of the page that follows.

        A required field without a value gets one. `button` is the value of the button, if the form has several. If the
        form `fails`, the sentence of the problem is returned.
        """
        form, values = self.form(address, kind), dict(values or {})
        for field in form.locator("input:not([type=hidden]), select, textarea").all():
            name = field.get_attribute("name")
            if name in values:
                fill(field, values.pop(name))
            elif field.get_attribute("required") is not None and not field.input_value():
                fill(field, "1" if field.get_attribute("type") == "number" else "A test in a browser")
        if values:
            raise AssertionError(f"the form to {address} has no fields {sorted(values)}")
        # The marks of what is there before: the page, and the problem of an earlier try.
        self.page.evaluate("document.getElementById('main').dataset.before = ''; document.querySelectorAll('#main .problem').forEach((problem) => problem.remove())")
        chosen = f'button[value="{button}"]' if button else 'button:not([type="button"])'
        with self.expecting(*((400, 403, 404, 409, 422) if fails else ())):
            form.locator(chosen).first.click()
            self.page.locator("#main:not([data-before]), #main form .problem").first.wait_for()
        problem = self.page.locator("#main .problem[role=alert]")
        if bool(problem.count()) != fails:
            raise AssertionError(f"the form to {address} leads to: {self.text()[:2000]}")
        if fails:
            sentence = problem.first.inner_text()
            if not self.has_script:
                self.page.go_back()
            return sentence
        notice = self.page.locator("#main [role=status]")
        return notice.first.inner_text() if notice.count() else ""

    def text(self):
        return self.page.locator("#main").inner_text()

    def log_in(self, name, password=PASSWORD):
        self.open("log-in")
        self.page.get_by_label(re.compile("^(Name|이름)$")).fill(name)
        self.page.get_by_label(re.compile("^(Password|비밀번호)$")).fill(password)
        self.page.locator("#main button.primary").click()
        self.page.locator(".problem, body:has(.sections):not(:has(#password))").first.wait_for()
        if self.page.locator(".problem").count():
            raise AssertionError(f"{name} could not log in: {self.text()}")

    def accept(self, link, password=PASSWORD):
        """Sets the first password by a one-time link. Without the script, the code is pasted."""
        self.page.goto(link)
        page, code = link.split("#")
        if self.has_script:
            # The script has moved the code to its field.
            if (self.page.url, self.page.locator("#code").input_value()) != (page, code):
                raise AssertionError(f"the link leads to {self.page.url}, with the code {self.page.locator('#code').input_value()}")
        else:
            self.page.locator("#code").fill(code)
        self.page.locator("#new-password").fill(password)
        self.page.locator("#repetition").fill(password)
        self.page.locator("#main button.primary").click()
        self.page.wait_for_url("**/console/log-in")


def fill(field, value):
    """Gives a field of a form a value, as its kind needs. True is the last choice of a list."""
    kind = field.evaluate("(field) => field.localName === 'select' ? 'select' : field.type")
    if kind == "select":
        field.select_option(index=field.evaluate("(field) => field.options.length - 1")) if value is True else field.select_option(value)
    elif kind in ("checkbox", "radio"):
        field.set_checked(value)
    elif kind == "file":
        field.set_input_files(value)
    else:
        field.fill(value)


class Receiver:
    """A back end that receives webhooks, and answers those to `/broken` with an error."""

    def __init__(self):
        self.messages = queue.Queue()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                receiver.messages.put((self.path, dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(500 if self.path == "/broken" else 204)
                self.end_headers()

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@functools.cache
def receiver():
    return Receiver()


@functools.cache
def arranged():
    """Adds what the demonstration lacks: a webhook that fails, a changed product, and a customer with long lists.

    Returns the addresses of pages to follow links from.
    """
    with Window(logged_in("demo")) as window:
        for path in ("/hooks", "/broken"):
            window.open("webhooks")
            window.send("webhooks", {"url": receiver().url + path})
        window.open("products")
        product = next(link for link in window.links() if re.search(r"/console/products/[^/?]+\?|/console/products/[^/?]+$", link))
        window.open(product.split("?")[0] + "/edit" + ("?" + product.split("?")[1] if "?" in product else ""))
        window.send("/definition", {"referenceName": "A name for the team"})
        window.open("products/" + ITEM_PRODUCT)
        window.send("/picture", {"picture": {"name": "x.png", "mimeType": "image/png", "buffer": PNG}})
        window.open("store/buy")
        fields = window.fields("store/buy", account="collector", product=BALANCE_PRODUCT, user="collector", then="redeem")
        for _ in range(30):
            answer = window.post("/console/store/buy", fields)
            if answer.status != 303:
                raise AssertionError(f"a purchase is refused: {answer.status} {answer.text()[:3000]}")
        for _ in range(25):
            window.open("customers/-/collector")
            window.send("/grants", {"give-item": "sprout 4", "give-reason": "A present"})
        faults = window.take_faults()
        if faults:
            raise AssertionError(f"arranging the shop: {faults}")
        sell_outside_the_stores()
        return ["/console/customers/-/collector", product, *("/console/products/" + each for each in (ITEM_PRODUCT, SUBSCRIPTION))]


def sell_outside_the_stores():
    """Reports a sale outside the App Store and one outside Google Play, as a back end does."""
    now = datetime.datetime.now(datetime.timezone.utc)
    token = shop().till("store", "external-tokens", "--make")
    shop().post("/v1/apple/external-purchases", {"token": token["token"]})
    shop().post(f"/v1/apple/external-purchases/{token['externalPurchaseId']}/reports", {
        "requestIdentifier": "4c2f8c6e-1f0f-4b0a-9a55-2f1b7e3c9d10", "status": "LINE_ITEM", "lineItems": [{
            "lineItemId": "sale-1", "creationDate": int(now.timestamp() * 1000), "eventType": "BUY",
            "productType": "ONE_TIME_BUY", "productIdentifier": ITEM_PRODUCT, "quantity": 1, "amountTaxInclusive": 10000,
            "amountTaxExclusive": 8000, "taxAmount": 2000, "netAmountTaxExclusive": 8000, "pricingCurrency": "EUR",
            "reportingCurrency": "EUR", "taxCountry": "ESP"}]})
    token = shop().till("play", "external-token", "EXTERNAL_CONTENT_LINK")
    shop().post("/v1/google/external-transactions", {
        "externalTransactionId": "sale-1", "transactionTime": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "originalPreTaxAmount": {"currency": "USD", "priceMicros": "9990000"},
        "originalTaxAmount": {"currency": "USD", "priceMicros": "500000"}, "userTaxAddress": {"regionCode": "US"},
        "oneTimeTransaction": {"externalTransactionToken": token["externalTransactionToken"]},
        "externalContentLinkDetails": {"linkType": "LINK_TO_DIGITAL_CONTENT_OFFER"}})


@functools.cache
def logged_in(role):
    """The cookies of a person of a role: one of the shop's own, of whom `demo` is an administrator, or else an invited one."""
    with Window() as window:
        if role in shop().passwords:
            window.log_in(role, shop().passwords[role])
        else:
            window.accept(shop().invite(role, role))
            window.log_in(role)
        faults = window.take_faults()
        if faults:
            raise AssertionError(f"logging in as {role}: {faults}")
        return window.context.storage_state()
