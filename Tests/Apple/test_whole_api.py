"""Each method of Apple's library is called by the tests of the modules before this one in the alphabet."""

import unittest

import watched


class WholeAPITests(unittest.TestCase):
    def test_each_method_has_had_an_answer(self):
        methods = {name for each in watched.CLASSES for name in watched.methods(each)}
        # Apple's receipts of one transaction are those of iOS 6, and the store makes none.
        older = {"ReceiptUtility.extract_transaction_id_from_transaction_receipt"}
        self.assertEqual(methods - watched.answered, older)

    def test_each_method_of_the_client_has_had_an_error(self):
        self.assertEqual(set(watched.methods(watched.CLIENT)) - watched.refused, set())

    def test_each_method_of_the_verifier_has_had_an_error(self):
        self.assertEqual(set(watched.methods(watched.SignedDataVerifier)) - watched.refused, set())


if __name__ == "__main__":
    unittest.main()
