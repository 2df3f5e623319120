"""Notes which methods of Apple's library are called, and how each ends. The calls reach the library as they are."""

import functools
import inspect

from appstoreserverlibrary.api_client import APIException, AppStoreServerAPIClient
from appstoreserverlibrary.jws_signature_creator import (
    AdvancedCommerceAPIInAppSignatureCreator, IntroductoryOfferEligibilitySignatureCreator,
    PromotionalOfferV2SignatureCreator,
)
from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from appstoreserverlibrary.receipt_utility import ReceiptUtility
from appstoreserverlibrary.signed_data_verifier import SignedDataVerifier, VerificationException

CLIENT = AppStoreServerAPIClient
CLASSES = [
    CLIENT, SignedDataVerifier, ReceiptUtility, PromotionalOfferSignatureCreator, PromotionalOfferV2SignatureCreator,
    IntroductoryOfferEligibilitySignatureCreator, AdvancedCommerceAPIInAppSignatureCreator,
]
# The names of methods that returned a value, and of those that raised an error of the library's.
answered, refused = set(), set()


def methods(of):
    return {
        f"{of.__name__}.{name}": function
        for name, function in inspect.getmembers(of, inspect.isfunction) if not name.startswith("_")}


def noting(name, function):
    @functools.wraps(function)
    def call(*arguments, **options):
        try:
            answer = function(*arguments, **options)
        except (APIException, VerificationException):
            refused.add(name)
            raise
        answered.add(name)
        return answer

    return call


for each in CLASSES:
    for named, plain in methods(each).items():
        setattr(each, named.partition(".")[2], noting(named, plain))
