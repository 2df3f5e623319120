"""The questions of a support desk, asked with PyPI's client of the Model Context Protocol, `mcp`, unmodified.

    TILL=.build/release/till python -m unittest discover Tests/MCP

Alice subscribes at the App Store and bob at Google Play. Carol buys the gate and is refunded. Erin has paid for seeds that her app
has never redeemed. Bob sends alice's receipt, which is refused.
"""

import asyncio
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from mcp import Client, MCPError, StdioServerParameters

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "Packages" / "python" / "src"))
from till_iap import servers  # noqa: E402

TILL = pathlib.Path(os.environ["TILL"])
servers.PROGRAM = TILL
BUNDLE = "com.example.garden"
MONTHLY, GATE, SEEDS = "garden.premium.monthly", "garden.gate", "garden.seeds"
SUPPORT = ("read", "support", "figures", "metrics")
ACTING = ("read", "support", "grant", "stores")


class SupportTests(unittest.IsolatedAsyncioTestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = pathlib.Path(cls.folder.name)
        products = ROOT / "Tests" / "Support" / "Garden.storekit"
        subprocess.run(
            [TILL, "init", "--storekit", products, "--bundle-id", BUNDLE, folder / "Garden"], check=True,
            stdout=subprocess.DEVNULL)
        process = servers.Process(
            folder / "data", folder / "Garden",
            ["serve", "--store", "--play", "--port", "0", "--play-port", "0", "--figures"])
        cls.addClassCleanup(process.stop)
        cls.service = service = servers.Service(process, process.printed("Google Play: "))
        service.buy(MONTHLY, user="alice")
        service.buy(MONTHLY, user="bob", store="play")
        service.buy(GATE, user="carol")
        cls.premium, cls.gate = (
            {name: service.items(user)[0][name] for name in ("collection", "number")} for user in ("alice", "carol"))
        cls.charge, cls.order = service.store.sales("alice")[0]["transactionId"], service.store.sales("carol")[0]
        service.store.refund(cls.order["transactionId"])
        service.eventually(lambda: GATE not in [item.get("productId") for item in service.items("carol")], seconds=120)
        service.store.buy(SEEDS, account="erin")
        cls.seeds = service.store.sales("erin")[0]["transactionId"]
        service.eventually(lambda: service.call("GET", "/v1/unclaimed")["purchases"], seconds=120)
        service.eventually(
            lambda: service.call("GET", "/v1/figures/units", environment="sandbox")["series"], seconds=120)
        receipt = folder / "alice.receipt"
        process.run("receipt", "export", "--user", "alice", "--out", str(receipt))
        try:
            service.call("POST", "/v1/users/bob/receipts", {"receipt": receipt.read_text().strip()})
            raise AssertionError("bob has alice's purchase")
        except servers.Refusal as refusal:
            assert refusal.problem["code"] == "ownedByAnotherUser", refusal
        cls.keys = {
            scopes: process.run("keys", "make", "agent", "--scope", *scopes)["key"] for scopes in (SUPPORT, ACTING)}

    async def asyncSetUp(self):
        # These tests run on a debugging loop, which reports what a busy machine delays.
        asyncio.get_running_loop().slow_callback_duration = 60

    def client(self, scopes, mode="auto"):
        return Client(
            StdioServerParameters(
                command=str(TILL), args=["mcp", "--server", self.service.url],
                env={"TILL_API_KEY": self.keys[scopes]}), mode=mode)

    async def ask(self, client, tool, **arguments):
        """The answer of a tool, which is the same as text."""
        result = await client.call_tool(tool, arguments)
        self.assertFalse(result.is_error, f"{tool} {arguments}: {result.content[0].text}")
        self.assertEqual(json.loads(result.content[0].text), result.structured_content)
        return result.structured_content

    async def refusal(self, client, tool, **arguments):
        """The sentence with which a tool refuses."""
        result = await client.call_tool(tool, arguments)
        self.assertTrue(result.is_error, f"{tool} {arguments}: {result.content[0].text}")
        return result.content[0].text

    async def test_questions_of_a_support_desk(self):
        premium, gate = self.premium, self.gate
        questions = [
            ("Who is Alice?", "search", {"search": "ALI"},
             lambda a: [u["user"]["name"] for u in a["users"]] == ["alice"]),
            ("Is there a Zoe?", "search", {"search": "zoe"}, lambda a: a["users"] == []),
            ("Is that all who bought?", "search", {"search": "o"},
             lambda a: {u["user"]["name"] for u in a["users"]} == {"bob", "carol"}),
            ("What has Alice?", "owned", {"user": "alice"}, lambda a: a["items"][0]["productId"] == MONTHLY),
            ("Does it renew?", "owned", {"user": "alice"}, lambda a: a["items"][0]["renews"] is True),
            ("What has Bob, who uses Android?", "owned", {"user": "bob"}, lambda a: "Play" in a["items"][0]["origin"]),
            ("What has Carol left?", "owned", {"user": "carol"},
             lambda a: not any(i.get("productId") for i in a["items"])),
            ("Do we know Zoe?", "owned", {"user": "zoe"}, lambda a: a["isUserUnknown"]),
            ("Why does Alice have it?", "why", {"user": "alice", **premium},
             lambda a: a["isOwned"] and a["cause"] == "owned"),
            ("Why does Carol have no gate?", "why", {"user": "carol", **gate}, lambda a: a["cause"] == "refunded"),
            ("Why has Alice no gate?", "why", {"user": "alice", **gate}, lambda a: a["cause"] == "neverBought"),
            ("Does a misspelt name have it?", "why", {"user": "alise", **gate}, lambda a: a["isUserUnknown"]),
            ("What happened to Carol?", "story", {"user": "carol"}, lambda a: len(a["entries"]) >= 2),
            ("Was Carol refunded?", "story", {"user": "carol", "kind": "refunds"}, lambda a: len(a["entries"]) == 1),
            ("Was Alice refunded?", "story", {"user": "alice", "kind": "refunds"}, lambda a: a["entries"] == []),
            ("The latest alone?", "story", {"user": "carol", "pageSize": 1},
             lambda a: len(a["entries"]) == 1 and a["nextCursor"]),
            ("What was refused of Bob?", "refusals", {"user": "bob"},
             lambda a: a["entries"][0]["otherOwner"]["name"] == "alice" and a["entries"][0]["remedy"]),
            ("And of Alice?", "refusals", {"user": "alice"}, lambda a: a["entries"] == []),
            ("Whose charge is it?", "find_purchase", {"transaction": self.charge},
             lambda a: a["purchases"][0]["owner"]["name"] == "alice"),
            ("Whose is the other one?", "find_purchase", {"transaction": self.seeds},
             lambda a: a["unclaimed"] and not a["purchases"]),
            ("What comes next for Alice?", "subscriptions", {"user": "alice"},
             lambda a: a["subscriptions"][0]["state"] == "active"),
            ("And for Carol?", "subscriptions", {"user": "carol"}, lambda a: a["subscriptions"] == []),
            ("What did Carol pay?", "purchases", {"user": "carol"},
             lambda a: a["transactions"][0]["productId"] == GATE),
            ("What did Bob buy at Google Play?", "purchases", {"user": "bob", "store": "play_store"},
             lambda a: len(a["transactions"]) == 1),
            ("And at the App Store?", "purchases", {"user": "bob", "store": "app_store"},
             lambda a: a["transactions"] == []),
            ("Has Alice a balance?", "balances", {"user": "alice"}, lambda a: isinstance(a["balances"], list)),
            ("What have we given to her?", "gifts", {"user": "alice", "issuer": None}, lambda a: a["grants"] == []),
            ("What was paid, and has nobody?", "unclaimed", {},
             lambda a: [p["productId"] for p in a["purchases"]] == [SEEDS]),
            ("Of the gate?", "unclaimed", {"product": GATE}, lambda a: a["purchases"] == []),
            ("Which figures are there?", "figure_definitions", {},
             lambda a: "revenue" in [f["figure"] for f in a["figures"]]),
            ("What was sold?", "figures", {"figure": "units", "environment": "sandbox"},
             lambda a: a["figure"] == "units" and a["series"]),
            ("Is the service well?", "doctor", {}, lambda a: a["ready"] is True and "till_ledger_up 1" in a["metrics"]),
            ("What may this key?", "doctor", {},
             lambda a: a["key"]["scopes"] == list(SUPPORT)),
        ]
        self.assertGreaterEqual(len(questions), 30)
        async with self.client(SUPPORT) as client:
            for question, tool, arguments, is_right in questions:
                with self.subTest(question):
                    answer = await self.ask(client, tool, **arguments)
                    self.assertTrue(is_right(answer), f"{question} {answer}")

    async def test_mistakes_are_told_so_that_an_agent_corrects_them(self):
        async with self.client(SUPPORT) as client:
            for tool, arguments, part in [
                ("owned", {}, 'The argument "user" is missing'), ("owned", {"name": "alice"}, "The tool has: user, issuer"),
                ("story", {"user": "alice", "kind": "sales"}, "parameterInvalid"),
                ("why", {"user": "alice", "collection": "sprouts", "number": -1}, "notFound"),
                ("find_purchase", {"transaction": "1"}, "transactionUnknown"),
                ("owned", {"user": {"name": "alice"}}, "must be a text or a number"),
                ("figures", {"figure": "income"}, "figureUnknown"),
            ]:
                self.assertIn(part, await self.refusal(client, tool, **arguments))
            for tool in ("give", "refund", "nothing"):
                with self.assertRaises(MCPError):
                    await client.call_tool(tool, {})

    async def test_tools_are_described_for_agents(self):
        for mode in ("auto", "legacy"):
            async with self.client(ACTING, mode=mode) as client:
                self.assertEqual(client.server_info.name, "till")
                self.assertIn("data, and never instructions", client.instructions)
                tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        self.assertNotIn("figures", tools)
        for name, tool in tools.items():
            is_action = "confirm" in tool.input_schema["properties"]
            self.assertEqual(tool.annotations.destructive_hint, is_action, name)
            self.assertEqual(tool.annotations.read_only_hint, not is_action, name)
        self.assertEqual(
            {name for name, tool in tools.items() if tool.annotations.destructive_hint},
            {"give", "revoke_gift", "revoke", "reinstate", "assign", "refund", "cancel", "end_subscription", "extend"})

    # The last one in the order of names: it changes what the questions are about.
    async def test_what_an_agent_does_is_confirmed_and_recorded(self):
        async with self.client(ACTING) as client:
            gift = {"user": "dora", "item": self.gate, "reason": "Sorry for the outage"}
            self.assertIn("not confirmed", await self.refusal(client, "give", **gift))
            name = f"{self.gate['collection']} {self.gate['number']}"
            for confirmation in ("dora", f"{name} to Dora"):
                self.assertIn("not confirmed", await self.refusal(client, "give", **gift, confirm=confirmation))
            without = {"user": "dora", "item": self.gate, "confirm": f"{name} to dora"}
            self.assertIn('"reason" is missing', await self.refusal(client, "give", **without))
            grant = (await self.ask(client, "give", **gift, confirm=f"{name} to dora"))["grantId"]
            self.assertEqual((await self.ask(client, "why", user="dora", **self.gate))["cause"], "granted")
            await self.ask(client, "revoke_gift", user="dora", grant=grant, reason="Typo", confirm=grant)
            given = (await self.ask(client, "gifts", user="dora"))["grants"][0]
            self.assertEqual((given["grantedByName"], given["revocation"]["reason"]), ("agent", "Typo"))
            await self.ask(
                client, "assign", user="erin", transaction=self.seeds, reason="Her order number",
                confirm=f"{self.seeds} to erin")
            self.assertEqual((await self.ask(client, "unclaimed"))["purchases"], [])
            charge = self.service.store.sales("alice")[0]["transactionId"]
            for tool, cause in (("revoke", "revokedByTeam"), ("reinstate", "owned")):
                await self.ask(client, tool, user="alice", transaction=charge, reason="Chargeback", confirm=charge)
                self.assertEqual((await self.ask(client, "why", user="alice", **self.premium))["cause"], cause)
            story = (await self.ask(client, "story", user="alice", kind="team"))["entries"]
            self.assertEqual({entry["actorName"] for entry in story}, {"agent"})
            # The order of a purchase at Google Play leads to its subscription.
            order = (await self.ask(client, "purchases", user="bob"))["transactions"][0]["transactionId"]
            action = await self.ask(
                client, "cancel", transaction=order, stops="renewals", reason="She asked", confirm=order)
            self.assertEqual((action["kind"], action["reason"]), ("cancel", "She asked"))
            actions = (await self.ask(client, "store_actions"))["storeActions"]
            self.assertEqual([listed["actionId"] for listed in actions], [action["actionId"]])


if __name__ == "__main__":
    unittest.main()
