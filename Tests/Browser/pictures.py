"""Draws the pictures of the documents: six pages of `till demo` in Chromium.

    pictures.py FOLDER

TILL and CHROMIUM name the programs (see Scripts/test-console.sh).
"""

import json
import os
import signal
import subprocess
import sys

from playwright.sync_api import sync_playwright

PAGES = {
    "overview": "/console",
    "customer": "/console/customers/-/olivia",
    "revenue": "/console/figures/revenue?by=week&from=2025-12-01",
    "proofs": "/console/proofs",
    "products": "/console/products",
    "store": "/console/store?state=subscribed",
}


def demo():
    """Starts a demonstration, and returns it with its description."""
    process = subprocess.Popen([os.environ["TILL"], "demo", "--json"], stdout=subprocess.PIPE, text=True)
    text = ""
    for line in process.stdout:
        text += line
        if line.startswith("}"):
            return process, json.loads(text)
    raise SystemExit("till demo has ended")


def main():
    folder = sys.argv[1]
    process, shop = demo()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(
                executable_path=os.environ["CHROMIUM"], args=["--no-sandbox"] if os.geteuid() == 0 else [])
            page = browser.new_page(viewport={"width": 1200, "height": 620}, color_scheme="light", locale="en-GB")
            page.goto(shop["url"] + "/console/log-in")
            page.fill("[name=name]", shop["name"])
            page.fill("[name=password]", shop["password"])
            page.click("#main button.primary")
            page.locator(".sections").wait_for()
            for name, path in PAGES.items():
                page.goto(shop["url"] + path)
                if name == "store":
                    page.locator("a[data-swap]").first.click()
                    page.locator("#inspector h3").first.wait_for()
                page.screenshot(path=os.path.join(folder, name + ".png"))
            browser.close()
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()


main()
