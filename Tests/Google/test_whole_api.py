"""Each method of the client that has to do with purchases is served, and driven by the tests of the modules before this one in the
alphabet."""
import unittest

import discovery
from play import Play, PlayTests

# These resources have nothing to do with purchases, and the Play serves none of them.
PUBLISHING = {
    "applications", "apprecovery", "appsigning", "appstoreappsreview", "appstorecatalog", "edits", "generatedapks",
    "grants", "internalappsharingartifacts", "reviews", "systemapks", "users",
}
# Google serves these for older clients until 31 August 2027.
OLDER = {f"purchases.subscriptions.{name}" for name in ("get", "refund", "revoke")}


class CoverageTests(PlayTests):
    def test_each_method_on_purchases_is_served_and_driven(self):
        methods = {name for name in discovery.methods() if name.split(".")[0] not in PUBLISHING}
        self.assertEqual(set(self.play.sandbox("GET", "methods")["methods"]), methods | OLDER)
        self.assertEqual(methods - Play.called, set())


if __name__ == "__main__":
    unittest.main()
