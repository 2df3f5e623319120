"""The ten lines of Documentation/API.md and a refund, played with generated clients alone.

Scripts/test-clients.sh generates `till_client` and `store_client` with openapi-python-client, and `till_models` with
datamodel-codegen. The models, which allow no unknown field, read each answer of the service once more.
"""

import datetime
import os
import time
import unittest

import store_client
import till_client
import till_models
from store_client.api.sandbox import buy, read_receipt, refund
from store_client.models import PurchaseRequest, RefundRequest
from till_client.api.grants import grant_item
from till_client.api.products import list_products, read_product
from till_client.api.proofs import verify_proof
from till_client.api.service import is_ready, read_metrics
from till_client.api.users import list_user_items, list_user_transactions, make_user_account_token, redeem_user_receipt
from till_client.models import (
    ErrorCode, GrantItemRequest, Item, Origin, Problem, ProductOrder, PurchaseState, RedeemUserReceiptRequest,
    RedemptionOutcome, RedemptionResult, VerifyProofRequest,
)

SPROUT = "com.memolease.sesac1.sprout1"
PATIENCE = 120


class TenLines(unittest.TestCase):
    def setUp(self):
        url = os.environ["TILL_URL"]
        self.till = till_client.AuthenticatedClient(base_url=url, token=os.environ["TILL_API_KEY"])
        self.store = store_client.AuthenticatedClient(base_url=url, token=os.environ["TILL_SANDBOX_KEY"])
        for client in (self.till, self.store):
            self.addCleanup(client.get_httpx_client().close)

    def asked(self, operation, model, *arguments, status=200, **named):
        """The answer of an operation, which the model of datamodel-codegen reads, too."""
        answer = operation.sync_detailed(*arguments, client=self.till, **named)
        self.assertEqual(answer.status_code, status, answer.content)
        model.model_validate_json(answer.content)
        return answer

    def items(self):
        answer = self.asked(list_user_items, till_models.OwnedItemList, "alice").parsed
        return {(item.collection, item.number): item for item in answer.items}

    def test_ten_lines(self):
        self.assertEqual(is_ready.sync_detailed(client=self.till).status_code, 204)
        token = self.asked(make_user_account_token, till_models.Account, "alice").parsed.app_account_token
        bought = buy.sync(
            client=self.store, body=PurchaseRequest(account="alice", product_id=SPROUT, app_account_token=token))
        receipt = read_receipt.sync("alice", client=self.store).receipt

        products = self.asked(
            list_products, till_models.ProductList, collection="sprout", sort=ProductOrder.PRICE_DESCENDING,
            accept_language="en").parsed.products
        prices = [product.price for product in products]
        self.assertEqual(prices, sorted(prices, reverse=True))
        product = self.asked(read_product, till_models.Product, SPROUT).parsed
        self.assertEqual((product.item.collection, product.item.number), ("sprout", 1))
        proof = self.asked(verify_proof, till_models.Proof, body=VerifyProofRequest(proof=receipt)).parsed
        self.assertEqual([purchase.product_id for purchase in proof.purchases], [SPROUT])

        for header in (None, "true"):
            answer = self.asked(
                redeem_user_receipt, till_models.Redemption, "alice", body=RedeemUserReceiptRequest(receipt=receipt),
                idempotency_key="1")
            self.assertEqual(answer.headers.get("idempotent-replayed"), header)
            # The store's device has redeemed it, or this request does.
            self.assertIn(answer.parsed.outcome, (RedemptionOutcome.GRANTED, RedemptionOutcome.UNCHANGED))
            [line] = answer.parsed.transactions
            self.assertIn(line.result, (RedemptionResult.GRANTED, RedemptionResult.ALREADYREDEEMED))

        until = datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc)
        grant = self.asked(
            grant_item, till_models.Grant, "alice", status=201, idempotency_key="2",
            body=GrantItemRequest(item=Item(collection="background", number=2), reason="Spring gift", ends_at=until)).parsed
        self.assertEqual(grant.ends_at, until)
        items = self.items()
        self.assertEqual(items["sprout", 1].state, PurchaseState.OWNED)
        self.assertEqual(items["sprout", 1].origin, Origin.LOCALSANDBOX)
        self.assertEqual(items["background", 2].until, until)
        [transaction] = self.asked(list_user_transactions, till_models.TransactionList, "alice").parsed.transactions
        self.assertEqual(transaction.transaction_id, bought.transaction_id)
        self.assertIn("till_http_requests_total", read_metrics.sync(client=self.till))

        refund.sync(transaction.transaction_id, client=self.store, body=RefundRequest())
        # The store sends a notification.
        end = time.monotonic() + PATIENCE
        while ("sprout", 1) in self.items() and time.monotonic() < end:
            time.sleep(0.1)
        self.assertNotIn(("sprout", 1), self.items())
        [transaction] = self.asked(list_user_transactions, till_models.TransactionList, "alice").parsed.transactions
        self.assertIsInstance(transaction.revocation_date, datetime.datetime)

    def test_problem(self):
        answer = self.asked(read_product, till_models.Problem, "none", status=404)
        self.assertIsInstance(answer.parsed, Problem)
        self.assertEqual(answer.parsed.code, ErrorCode.PRODUCTNOTFOUND)
