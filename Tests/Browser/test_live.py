"""What changes by itself: live activity, live lists, the search while typing, and times in the zone of the browser."""

import re
import unittest

from browser import Window, arranged, logged_in

PREFIX = "com.memolease.sesac1."


class Live(unittest.TestCase):
    def buy(self, user):
        with Window(logged_in("support")) as buyer:
            buyer.open("store/buy")
            buyer.send("store/buy", {"account": user, "product": PREFIX + "sprout1", "user": user}, button="redeem")

    def test_the_overview_shows_a_purchase_at_once(self):
        with Window(logged_in("viewer")) as window:
            window.open("")
            self.assertNotIn("livewire", window.text())
            self.buy("livewire")
            row = window.page.locator("[data-stream] :text('livewire')").first
            row.wait_for()
            self.assertEqual(window.take_faults() + window.examine(), [])
            # The row is the same as after a reload.
            text = window.page.locator("[data-stream] > *").filter(has_text="livewire").first.inner_text()
            window.page.reload()
            self.assertEqual(window.page.locator("[data-stream] > *").filter(has_text="livewire").first.inner_text(), text)

    def test_without_the_script_the_purchase_is_there_after_a_reload(self):
        with Window(logged_in("viewer"), has_script=False) as window:
            self.buy("latecomer")
            window.open("")
            self.assertIn("latecomer", window.text())

    def test_the_list_of_the_store_follows_its_changes(self):
        with Window(logged_in("support")) as window:
            window.open("store")
            self.buy("newcomer")
            window.page.locator("#live :text('newcomer')").first.wait_for()
            self.assertEqual(window.take_faults(), [])

    def test_the_inspector_follows_the_store_unless_it_is_in_use(self):
        self.buy("inspected")
        with Window(logged_in("support")) as window, Window(logged_in("support")) as other:
            for each in (window, other):
                each.open("store?account=inspected")
                each.page.locator("a[data-swap]").first.click()
                each.page.locator("#inspector h3").first.wait_for()
            other.send("/requestRefund")
            window.page.locator("#inspector .badge", has_text="Refund requested").wait_for()
            refund = window.page.locator("#inspector details", has=window.page.locator("form[action*='/refund?']"))
            refund.locator("summary").click()
            other.send("/declineRefund")
            window.page.locator("#live .badge", has_text="Finished").first.wait_for()
            # The opened form stays, with what is around it.
            self.assertIsNotNone(refund.get_attribute("open"))
            self.assertEqual(window.take_faults() + other.take_faults(), [])

    def test_the_user_that_redeems_follows_the_account(self):
        with Window(logged_in("support")) as window:
            window.open("store/buy")
            window.send("store/buy", {"account": "a phone", "product": PREFIX + "sprout1", "user": "phone-owner"}, button="redeem")
            window.open("store/buy?account=mina")
            user = window.page.locator("#user")
            self.assertEqual(user.input_value(), "mina")
            window.page.locator("#account").fill("a phone")
            window.page.locator("#user[value='phone-owner']").wait_for()
            # Another field of the form leaves the user as typed.
            user.fill("somebody")
            window.page.locator("#quantity").fill("2")
            window.page.wait_for_timeout(400)
            self.assertEqual(user.input_value(), "somebody")
            self.assertEqual(window.take_faults(), [])

    def test_a_stream_needs_a_session(self):
        with Window() as window:
            for path in ("/console/activity", "/console/store/stream"):
                with self.subTest(path):
                    self.assertIn(window.context.request.get(path, max_redirects=0).status, (303, 401))

    def test_the_search_answers_while_typing(self):
        with Window(logged_in("viewer")) as window:
            window.open("customers")
            field = window.page.locator("#main input[type=search], #main input[name=search]").first
            if not field.count():
                field = window.page.locator("#search")
                field.fill("mina")
                field.press("Enter")
            else:
                field.press_sequentially("mina")
            window.page.locator("#main a[href$='/mina']").first.wait_for()
            self.assertEqual(window.take_faults(), [])

    def test_a_search_finds_every_identifier(self):
        arranged()
        with Window(logged_in("viewer")) as window:
            window.open("customers/-/collector")
            token = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", window.text()).group()
            transaction = next(re.search(r"/transactions/(\d+)", link).group(1) for link in window.links() if re.search(r"/transactions/\d+", link))
            for text in ("collector", token, token.upper(), transaction, f" {transaction} "):
                with self.subTest(text):
                    window.open("customers")
                    window.page.locator("#search").fill(text)
                    window.page.locator("#search").press("Enter")
                    window.page.locator("#main a[href*='/customers/-/collector']").first.wait_for()
            for text in (PREFIX + "seeds10", "no-such-thing"):
                with self.subTest(text):
                    window.open("customers?search=" + text)
                    self.assertEqual(window.take_faults() + window.examine(), [])

    def test_times_are_of_the_zone_of_the_browser(self):
        with Window(logged_in("viewer")) as window, Window(logged_in("viewer"), has_script=False) as plain:
            for each in (window, plain):
                each.open("customers/-/mina")
            moments = [each.page.locator("time.moment").first for each in (window, plain)]
            self.assertTrue(moments[1].inner_text().endswith(" UTC"))
            self.assertFalse(moments[0].inner_text().endswith(" UTC"))
            self.assertEqual(moments[0].get_attribute("datetime"), moments[1].get_attribute("datetime"))
            self.assertEqual(moments[0].get_attribute("title"), moments[1].inner_text())

    def test_a_button_copies(self):
        with Window(logged_in("viewer")) as window:
            window.context.grant_permissions(["clipboard-read", "clipboard-write"])
            window.open("app-store")
            button = window.page.locator("button[data-copy]").first
            button.click()
            copied = window.page.evaluate("navigator.clipboard.readText()")
            self.assertEqual(copied, window.page.locator("#" + button.get_attribute("data-copy")).text_content())

    def test_a_long_identifier_is_copied_from_its_row(self):
        with Window(logged_in("viewer")) as window:
            window.context.grant_permissions(["clipboard-read", "clipboard-write"])
            window.open("products")
            identifier = window.page.locator("td code[title]").first
            identifier.hover()
            window.page.locator("td .copy").first.click()
            copied = window.page.evaluate("navigator.clipboard.readText()")
            self.assertEqual(copied, identifier.get_attribute("title"))
            self.assertEqual(copied, identifier.text_content())
            self.assertEqual(window.take_faults(), [])

    def test_a_dropped_proof_is_read(self):
        with Window(logged_in("viewer")) as window:
            window.open("proofs")
            window.page.evaluate("""() => {
                const area = document.querySelector("textarea[data-drop]");
                for (const bytes of [[0x30, 0x80, 0xff]]) {
                    const data = new DataTransfer();
                    data.items.add(new File([new Uint8Array(bytes)], "receipt"));
                    area.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
                }
            }""")
            window.page.wait_for_function("document.querySelector('textarea[data-drop]').value === 'MID/'")
            self.assertEqual(window.take_faults(), [])
