"""Each method that the local Play serves is driven by the tests of the modules before this one in the alphabet."""
import unittest

import discovery
from play import Play, PlayTests


class CoverageTests(PlayTests):
    def test_each_method_that_is_served_is_driven(self):
        served = set(self.play.sandbox("GET", "methods")["methods"])
        self.assertEqual(served - Play.called, set())
        self.assertTrue(served <= set(discovery.methods()))


if __name__ == "__main__":
    unittest.main()
