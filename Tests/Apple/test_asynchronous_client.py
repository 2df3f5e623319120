"""Apple's asynchronous client, unmodified, against a running `till store`: each of its methods ends as that of the other client does."""

import asyncio
import inspect
import pathlib
import unittest
import uuid

import attr
import watched
from appstoreserverlibrary.api_client import APIException, AsyncAppStoreServerAPIClient
from appstoreserverlibrary.models.ConsumptionRequest import ConsumptionRequest
from appstoreserverlibrary.models.DefaultConfigurationRequest import DefaultConfigurationRequest
from appstoreserverlibrary.models.DeliveryStatus import DeliveryStatus
from appstoreserverlibrary.models.Environment import Environment
from appstoreserverlibrary.models.PerformanceTestRequest import PerformanceTestRequest
from appstoreserverlibrary.models.RealtimeUrlRequest import RealtimeUrlRequest
from appstoreserverlibrary.models.UpdateAppAccountTokenRequest import UpdateAppAccountTokenRequest
from appstoreserverlibrary.models.UploadMessageRequestBody import UploadMessageRequestBody

from test_app_store import BUNDLE, MONTHLY, PNG, Store

# What is uploaded is configured, read and deleted, in this order.
VERBS = ["upload", "configure", "set", "request", "initiate", "send", "extend", "finish", "get", "look", "delete"]
METHODS = {
    name: inspect.signature(function)
    for name, function in sorted(
        inspect.getmembers(AsyncAppStoreServerAPIClient, inspect.isfunction),
        key=lambda member: VERBS.index(member[0].partition("_")[0]) if not member[0].startswith(("_", "async_")) else -1)
    if not name.startswith(("_", "async_"))}


def arguments(signature, known):
    """Arguments for a method: the known values of its parameters' types, and empty bodies."""
    for parameter in list(signature.parameters.values())[1:]:
        if parameter.default is not parameter.empty:
            return
        value, kind = known.get(parameter.name), parameter.annotation
        yield kind() if attr.has(kind) and not isinstance(value, kind) else value


class AsynchronousClientTests(unittest.TestCase):
    def setUp(self):
        self.store = Store()
        self.addCleanup(self.store.close)

    def asynchronous(self, store):
        key = self.store.key
        client = AsyncAppStoreServerAPIClient(
            pathlib.Path(key["privateKey"]).read_bytes(), key["keyId"], key["issuerId"], BUNDLE, Environment.SANDBOX)
        client._base_url = self.store.base(store)
        return client

    def known(self, store):
        """The arguments of calls that have an answer, for a customer of a store."""
        bought = self.store.sandbox("POST", "purchases", {"account": "ada", "productId": MONTHLY}, store=store)
        sale = self.store.sandbox("GET", "accounts/ada/transactions", store=store)["transactions"][0]
        transaction = bought["transactionId"]
        return {
            "transaction_id": transaction, "any_transaction_id": transaction, "original_transaction_id": transaction,
            "order_id": sale["orderId"], "product_id": MONTHLY, "locale": "en-US", "image_identifier": uuid.UUID(int=7),
            "message_identifier": uuid.UUID(int=7), "image": PNG,
            "default_configuration_request": DefaultConfigurationRequest(messageIdentifier=uuid.UUID(int=7)),
            "performance_test_request": PerformanceTestRequest(originalTransactionId=transaction),
            "upload_message_request_body": UploadMessageRequestBody(header="Stay", body="Much is in bloom."),
            "realtime_url_request": RealtimeUrlRequest(realtimeURL="https://example.com/realtime"),
            "consumption_request": ConsumptionRequest(
                customerConsented=True, deliveryStatus=DeliveryStatus.DELIVERED, sampleContentProvided=False),
            "update_app_account_token_request": UpdateAppAccountTokenRequest(appAccountToken=str(uuid.UUID(int=9))),
        }

    UNKNOWN = {
        "transaction_id": "1234", "any_transaction_id": "1234", "original_transaction_id": "1234", "order_id": "M",
        "product_id": "none", "locale": "1", "image_identifier": uuid.UUID(int=8), "message_identifier": uuid.UUID(int=8),
        "image": b"GIF89a", "request_id": "one", "request_identifier": str(uuid.UUID(int=8)),
        "test_notification_token": "one", "pagination_token": "one", "revision": "one",
        "upload_message_request_body": UploadMessageRequestBody(header="", body=""),
        "performance_test_request": PerformanceTestRequest(originalTransactionId="1234"),
        "realtime_url_request": RealtimeUrlRequest(realtimeURL="http://x"),
        "consumption_request": ConsumptionRequest(
            customerConsented=False, deliveryStatus=DeliveryStatus.DELIVERED, sampleContentProvided=False),
        "update_app_account_token_request": UpdateAppAccountTokenRequest(appAccountToken=str(uuid.UUID(int=9))),
    }

    @staticmethod
    def ended(call):
        """The type of an answer and the fields that it has, or Apple's error."""
        try:
            answer = call()
        except APIException as error:
            return error.http_status_code, error.api_error
        return type(answer), attr.has(type(answer)) and sorted(
            name for name, value in attr.asdict(answer, recurse=False).items() if value is not None)

    def test_each_method_ends_as_that_of_the_other_client(self):
        self.assertEqual({f"{watched.CLIENT.__name__}.{name}" for name in METHODS}, set(watched.methods(watched.CLIENT)))
        with asyncio.Runner() as runner:
            plain, client = self.store.client(store="plain"), self.asynchronous("asynchronous")
            answered = 0
            for first, second in [
                (self.known("plain"), self.known("asynchronous")), (self.UNKNOWN, self.UNKNOWN),
            ]:
                for name, signature in METHODS.items():
                    expected = self.ended(lambda: getattr(plain, name)(*arguments(signature, first)))
                    found = self.ended(lambda: runner.run(getattr(client, name)(*arguments(signature, second))))
                    with self.subTest(method=name):
                        self.assertEqual(found, expected)
                    answered += isinstance(expected[0], type)
            runner.run(client.async_close())
        self.assertGreater(answered, len(METHODS) / 2)


if __name__ == "__main__":
    unittest.main()
