import Foundation
import Proofs

extension FuzzTarget {
    /// Valid inputs from which the fuzzer starts.
    ///
    /// - Parameter products: The folder of the shipped catalog.
    package func seeds(products: URL, with signers: Signers) throws -> [[UInt8]] {
        switch self {
        case .receipt:
            let payload = try Self.appReceipt.payload()
            let signed = try SignedData.sign(payload, with: signers.rsa.leaf.key, chain: signers.rsa.certificates)
            return [payload, signed, Array(Self.unityReceipt(Base64.encode(signed)).utf8)]
        case .signedJSON:
            let transaction = try JSONParser.parse(Array(Self.transaction.utf8))
            let compact = try SignedJSON.sign(
                transaction, with: signers.ellipticCurve.leaf.key, chain: signers.ellipticCurve.certificates)
            return [
                Self.transaction, Self.renewalInfo, Self.notification(compact), Self.appTransaction, compact,
                Self.unityReceipt(compact),
            ].map { Array($0.utf8) }
        case .signedPurchase:
            let signed = try SignedPurchase.sign(Array(Self.purchase.utf8), with: signers.rsa.leaf.key)
            return [Self.purchase, Self.subscription, Self.retiredPurchase, signed.json.compactText].map {
                Array($0.utf8)
            }
        case .pushedMessage:
            return Self.notifications.flatMap { notification in
                let data = Base64.encode(notification.utf8)
                return [
                    notification,
                    #"{"message":{"data":"\#(data)","messageId":"1","message_id":"1","publishTime":"2026-11-26T00:00:00Z"},"#
                        + #""subscription":"projects/p/subscriptions/s"}"#,
                ].map { Array($0.utf8) }
            }
        case .playAnswer:
            return [
                Self.subscriptionAnswer, Self.productAnswer, Self.order, Self.voidedPurchases, Self.purchaseToken,
            ].map { Array($0.utf8) }
        case .serviceAccount:
            let account = JSONValue.object([
                "type": "service_account", "private_key_id": "1", "client_email": "a@b.iam.gserviceaccount.com",
                "token_uri": "https://oauth2.googleapis.com/token",
                "private_key": .string(try signers.rsa.leaf.key.pem()),
            ])
            return [account.compactBytes]
        case .storeKitConfiguration:
            return [Array(try Data(contentsOf: products.appending(path: "Till.storekit")))]
        }
    }

    private static var appReceipt: AppReceipt {
        let date = Timestamp(millisecondsSince1970: 1_780_000_000_000)
        var purchase = InAppPurchase()
        purchase.productIdentifier = "p"
        (purchase.transactionIdentifier, purchase.originalTransactionIdentifier) = ("1", "1")
        (purchase.purchaseDate, purchase.originalPurchaseDate) = (date, date)
        purchase.productType = .nonConsumable
        purchase.expiresDate = date
        purchase.cancellationDate = date
        purchase.itemID = 5
        purchase.webOrderLineItemID = 7
        purchase.isTrialPeriod = true
        purchase.promotionalOfferIdentifier = "o"
        var receipt = AppReceipt()
        (receipt.receiptType, receipt.bundleIdentifier) = ("ProductionSandbox", "b")
        receipt.applicationVersion = "1"
        (receipt.opaqueValue, receipt.deviceHash) = ([1], [2])
        receipt.creationDate = date
        receipt.inAppPurchases = [purchase, purchase]
        return receipt
    }

    private static let transaction = """
        {"transactionId":"1","originalTransactionId":"1","webOrderLineItemId":"2","bundleId":"b","productId":"p",\
        "subscriptionGroupIdentifier":"g","purchaseDate":1780000000000,"originalPurchaseDate":1780000000000.5,\
        "expiresDate":1780000000000,"quantity":1,"type":"Non-Consumable","appAccountToken":\
        "5e2f3b0e-6b1f-4d6e-8c1a-0123456789ab","inAppOwnershipType":"PURCHASED","signedDate":1780000000000,\
        "revocationReason":0,"revocationDate":1780000000000,"isUpgraded":true,"offerType":1,"offerIdentifier":"o",\
        "environment":"Sandbox","storefront":"KOR","storefrontId":"143466","transactionReason":"PURCHASE","price":1200000,\
        "currency":"KRW","offerDiscountType":"FREE_TRIAL","offerPeriod":"P1W","appTransactionId":"3"}
        """

    private static let renewalInfo = """
        {"originalTransactionId":"1","autoRenewProductId":"p","productId":"p","autoRenewStatus":1,"renewalDate":1780000000000,\
        "expirationIntent":1,"gracePeriodExpiresDate":1780000000000,"isInBillingRetryPeriod":false,"offerIdentifier":"o",\
        "offerType":2,"priceIncreaseStatus":1,"recentSubscriptionStartDate":1780000000000,"renewalPrice":1200000,\
        "currency":"KRW","eligibleWinBackOfferIds":["w"],"environment":"Sandbox","signedDate":1780000000000}
        """

    private static let appTransaction = """
        {"receiptType":"Sandbox","appAppleId":1,"bundleId":"b","applicationVersion":"1","versionExternalIdentifier":1,\
        "receiptCreationDate":1780000000000,"originalPurchaseDate":1780000000000,"originalApplicationVersion":"1",\
        "deviceVerification":"AAAA","deviceVerificationNonce":"5e2f3b0e-6b1f-4d6e-8c1a-0123456789ab",\
        "preorderDate":1780000000000,"appTransactionId":"1","originalPlatform":"iOS"}
        """

    private static let purchase = """
        {"orderId":"GPA.1-2","packageName":"b","productId":"p","purchaseTime":1780000000000,"purchaseState":0,\
        "purchaseToken":"aaaabbbb.AO-J1O","obfuscatedAccountId":"a","obfuscatedProfileId":"o","quantity":2,\
        "acknowledged":false,"developerPayload":"d"}
        """

    private static let subscription = """
        {"packageName":"b","productIds":["p","q"],"purchaseTime":1780000000000,"purchaseState":4,"token":"t",\
        "purchaseToken":"aaaabbbb.AO-J1O","autoRenewing":true}
        """

    private static let notifications = [
        #""subscriptionNotification":{"version":"1.0","notificationType":2,"purchaseToken":"t","subscriptionId":"p"}"#,
        #""oneTimeProductNotification":{"version":"1.0","notificationType":1,"purchaseToken":"t","sku":"p"}"#,
        #""voidedPurchaseNotification":{"purchaseToken":"t","orderId":"GPA.1","productType":1,"refundType":2}"#,
        #""pendingRefundReviewNotification":{"version":"1.0","pendingRefundToken":"t","orderId":"GPA.1","refundReason":7}"#,
        #""testNotification":{"version":"1.0"}"#,
    ].map { #"{"version":"1.0","packageName":"com.example.b","eventTimeMillis":"1780000000000",\#($0)}"# }

    private static let retiredPurchase = """
        {"nonce":-5465853498583976126,"orders":[{"notificationId":"1","orderId":"1.2","packageName":"b","productId":"p",\
        "purchaseTime":1780000000000,"purchaseState":0,"purchaseToken":"t"}]}
        """

    private static let subscriptionAnswer = """
        {"kind":"androidpublisher#subscriptionPurchaseV2","subscriptionState":"SUBSCRIPTION_STATE_ACTIVE",\
        "startTime":"2026-05-01T00:00:00Z","regionCode":"KR","acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING",\
        "linkedPurchaseToken":"u","testPurchase":{},"externalAccountIdentifiers":{"obfuscatedExternalAccountId":"a"},\
        "canceledStateContext":{"userInitiatedCancellation":{"cancelTime":"2026-05-02T00:00:00Z"}},"pausedStateContext":\
        {"autoResumeTime":"2026-07-01T00:00:00Z"},"outOfAppPurchaseContext":{"expiredPurchaseToken":"v",\
        "expiredExternalAccountIdentifiers":{"obfuscatedExternalAccountId":"b"}},"lineItems":[{"productId":"p",\
        "expiryTime":"2026-07-01T00:00:00.123Z","latestSuccessfulOrderId":"GPA.1","autoRenewingPlan":{"autoRenewEnabled":true,\
        "recurringPrice":{"currencyCode":"KRW","units":"9900"},"priceChangeDetails":{"newPrice":{"currencyCode":"KRW",\
        "units":"12000"},"priceChangeMode":"PRICE_INCREASE","priceChangeState":"OUTSTANDING","expectedNewPriceChargeTime":\
        "2026-07-01T00:00:00Z"},"installmentDetails":{"pendingCancellation":{}}},"offerDetails":{"basePlanId":"m","offerId":"o"},\
        "offerPhase":{"freeTrial":{}},"deferredItemReplacement":{"productId":"q"},"signupPromotion":{"oneTimeCode":{}}}]}
        """

    private static let productAnswer = """
        {"productLineItem":[{"productId":"p","productOfferDetails":{"quantity":3,"refundableQuantity":2,"offerId":"o",\
        "consumptionState":"CONSUMPTION_STATE_CONSUMED"}},{"productId":"q"}],"purchaseStateContext":{"purchaseState":"PURCHASED"},\
        "acknowledgementState":"ACKNOWLEDGEMENT_STATE_PENDING","purchaseCompletionTime":"2026-05-01T00:00:00Z",\
        "testPurchaseContext":{"fopType":"TEST"},"orderId":"GPA.1","regionCode":"US","obfuscatedExternalProfileId":"a"}
        """

    private static let order = """
        {"orderId":"GPA.1","createTime":"2026-05-01T00:00:00Z","state":"PARTIALLY_REFUNDED","lineItems":[{"productId":"p",\
        "total":{"currencyCode":"USD","units":"5","nanos":990000000},"subscriptionDetails":{"servicePeriodStartTime":\
        "2026-05-01T00:00:00Z","servicePeriodEndTime":"2026-06-01T00:00:00Z","offerPhaseDetails":{"baseDetails":{}}}}],\
        "orderHistory":{"refundEvent":{"eventTime":"2026-05-02T00:00:00Z"},"partialRefundEvents":[{"createTime":\
        "2026-05-02T00:00:00Z","processTime":"2026-05-03T00:00:00Z"}]}}
        """

    private static let voidedPurchases = """
        {"voidedPurchases":[{"purchaseToken":"t","orderId":"GPA.1..0","voidedTimeMillis":"1780000000000","voidedReason":7,\
        "voidedQuantity":2}],"tokenPagination":{"nextPageToken":"n"}}
        """

    private static let purchaseToken = #"{"purchaseToken":"t","packageName":"com.example.b","productId":"p"}"#

    private static func unityReceipt(_ proof: String) -> String {
        #"{"Payload":"\#(proof)","Store":"AppleAppStore","TransactionID":"1"}"#
    }

    private static func notification(_ transaction: String) -> String {
        """
        {"notificationType":"REFUND","subtype":"VOLUNTARY","notificationUUID":"u","version":"2.0","signedDate":1780000000000,\
        "data":{"appAppleId":1,"bundleId":"b","bundleVersion":"1","environment":"Sandbox","status":1,\
        "consumptionRequestReason":"OTHER","signedTransactionInfo":"\(transaction)"},"summary":null}
        """
    }
}
