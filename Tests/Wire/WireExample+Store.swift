import Wire

extension WireExample {
    /// The examples of the local App Store.
    static let store: [WireExample] = [
        WireExample(
            QueueResource.self,
            #"""
            {"number": 7, "account": "account", "productId": "productId", "quantity": 7, "state": "state",
            "error": "error", "transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "signedTransaction": "signedTransaction", "effect": "charged", "price": 4990, "currency": "USD",
            "nextProductId": "nextProductId", "renewalDate": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            QueueResource.self,
            #"""
            {"number": 7, "account": "account", "productId": "productId", "quantity": 7, "state": "state"}
            """#),
        WireExample(
            QueueList.self,
            #"""
            {"transactions": [{"number": 7, "account": "account", "productId": "productId", "quantity": 7,
            "state": "state", "error": "error", "transactionId": "transactionId",
            "originalTransactionId": "originalTransactionId", "signedTransaction": "signedTransaction"}]}
            """#),
        WireExample(
            QueueList.self,
            #"""
            {"transactions": [{"number": 7, "account": "account", "productId": "productId", "quantity": 7,
            "state": "state"}]}
            """#),
        WireExample(
            SaleResource.self,
            #"""
            {"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "orderId": "orderId", "account": "account", "productId": "productId", "type": "Consumable",
            "quantity": 7, "purchaseDate": "2027-01-31T12:00:00Z", "expiresDate": "2027-01-31T12:00:00Z",
            "price": 4990, "currency": "USD", "revocationDate": "2027-01-31T12:00:00Z", "isUpgraded": true}
            """#),
        WireExample(
            SaleResource.self,
            #"""
            {"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "orderId": "orderId", "account": "account", "productId": "productId", "type": "Consumable",
            "quantity": 7, "purchaseDate": "2027-01-31T12:00:00Z", "price": 4990, "currency": "USD",
            "isUpgraded": true}
            """#),
        WireExample(
            SaleList.self,
            #"""
            {"transactions": [{"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "orderId": "orderId", "account": "account", "productId": "productId", "type": "Consumable",
            "quantity": 7, "purchaseDate": "2027-01-31T12:00:00Z", "expiresDate": "2027-01-31T12:00:00Z",
            "price": 4990, "currency": "USD", "revocationDate": "2027-01-31T12:00:00Z", "isUpgraded": true}]}
            """#),
        WireExample(
            SaleList.self,
            #"""
            {"transactions": [{"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "orderId": "orderId", "account": "account", "productId": "productId", "type": "Consumable",
            "quantity": 7, "purchaseDate": "2027-01-31T12:00:00Z", "price": 4990, "currency": "USD",
            "isUpgraded": true}]}
            """#),
        WireExample(TimeResource.self, #"{"now": "2027-01-31T12:00:00Z"}"#),
        WireExample(
            TimeResource.self,
            #"""
            {"now": "2027-01-31T12:00:00Z", "events": [{"kind": "renewed", "date": "2027-01-31T12:00:00Z",
            "account": "account", "productId": "productId", "transactionId": "transactionId"}]}
            """#),
        WireExample(
            DueEventResource.self,
            #"""
            {"kind": "renewed", "date": "2027-01-31T12:00:00Z", "account": "account", "productId": "productId",
            "transactionId": "transactionId"}
            """#),
        WireExample(
            ResetResource.self, #"{"sales": 3, "notifications": 5, "clock": true, "settings": true}"#),
        WireExample(
            NotificationResource.self,
            #"""
            {"notificationUUID": "notificationUUID", "notificationType": "notificationType", "subtype": "subtype",
            "transactionId": "transactionId", "date": "2027-01-31T12:00:00Z",
            "sendAttempts": [{"date": "2027-01-31T12:00:00Z", "result": "result"}],
            "signedPayload": "signedPayload"}
            """#),
        WireExample(
            NotificationResource.self,
            #"""
            {"notificationUUID": "notificationUUID", "notificationType": "notificationType",
            "date": "2027-01-31T12:00:00Z", "sendAttempts": [{"date": "2027-01-31T12:00:00Z", "result": "result"}],
            "signedPayload": "signedPayload"}
            """#),
        WireExample(
            NotificationList.self,
            #"""
            {"notifications": [{"notificationUUID": "notificationUUID", "notificationType": "notificationType",
            "subtype": "subtype", "transactionId": "transactionId", "date": "2027-01-31T12:00:00Z",
            "sendAttempts": [{"date": "2027-01-31T12:00:00Z", "result": "result"}],
            "signedPayload": "signedPayload"}]}
            """#),
        WireExample(
            NotificationList.self,
            #"""
            {"notifications": [{"notificationUUID": "notificationUUID", "notificationType": "notificationType",
            "date": "2027-01-31T12:00:00Z", "sendAttempts": [{"date": "2027-01-31T12:00:00Z", "result": "result"}],
            "signedPayload": "signedPayload"}]}
            """#),
        WireExample(
            SubscriptionStatusResource.self,
            #"""
            {"subscriptionGroupIdentifier": "subscriptionGroupIdentifier", "lastTransactions": [{"status": 1,
            "originalTransactionId": "originalTransactionId", "signedTransactionInfo": "signedTransactionInfo",
            "signedRenewalInfo": "signedRenewalInfo"}]}
            """#),
        WireExample(
            SubscriptionStatusList.self,
            #"""
            {"subscriptions": [{"subscriptionGroupIdentifier": "subscriptionGroupIdentifier",
            "lastTransactions": [{"status": 1, "originalTransactionId": "originalTransactionId",
            "signedTransactionInfo": "signedTransactionInfo", "signedRenewalInfo": "signedRenewalInfo"}]}]}
            """#),
        WireExample(AppTransactionResource.self, #"{"signedAppTransaction": "signedAppTransaction"}"#),
        WireExample(ReceiptResource.self, #"{"receipt": "receipt"}"#),
        WireExample(
            SettingsResource.self,
            #"""
            {"timeRate": "realTime", "storefront": "storefront", "locale": "locale", "isAskToBuyEnabled": true,
            "areInterruptedPurchasesEnabled": true, "shouldEnterBillingRetryOnRenewal": true,
            "isBillingGracePeriodEnabled": true, "failureError": "unknown",
            "storeKitErrors": {"loadProducts": "networkError"}, "notificationsURL": "http://127.0.0.1:1/apple",
            "sharedSecret": "sharedSecret", "verifyReceiptStatus": 7, "serverAPIRequestsPerMinute": 7}
            """#),
        WireExample(
            SettingsResource.self,
            #"""
            {"timeRate": "realTime", "storefront": "storefront", "locale": "locale", "isAskToBuyEnabled": true,
            "areInterruptedPurchasesEnabled": true, "shouldEnterBillingRetryOnRenewal": true,
            "isBillingGracePeriodEnabled": true, "storeKitErrors": {"loadProducts": "networkError"}}
            """#),
        WireExample(
            PurchaseRequest.self,
            #"""
            {"account": "account", "productId": "productId", "quantity": 7,
            "appAccountToken": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "offerType": "promotional",
            "offerIdentifier": "offerIdentifier", "offerSignature": {"keyIdentifier": "keyIdentifier",
            "nonce": "6F9619FF-8B86-D011-B42D-00C04FC964FF", "timestamp": 7, "signature": "signature"},
            "outcome": "outcome"}
            """#),
        WireExample(PurchaseRequest.self, #"{"account": "account", "productId": "productId"}"#),
        WireExample(RefundRequest.self, #"{"reason": "gift"}"#),
        WireExample(RefundRequest.self, #"{}"#),
        WireExample(SharingRequest.self, #"{"account": "account"}"#),
        WireExample(PriceIncreaseRequest.self, #"{"price": 4990, "needsConsent": true}"#),
        WireExample(PriceIncreaseRequest.self, #"{"price": 4990}"#),
        WireExample(TimeAdvanceRequest.self, #"{"by": "1mo"}"#),
        WireExample(NotificationFaultsRequest.self, #"{"faults": ["delay:5"]}"#),
        WireExample(
            SettingsChanges.self,
            #"""
            {"timeRate": "realTime", "storefront": "storefront", "locale": "locale", "isAskToBuyEnabled": true,
            "areInterruptedPurchasesEnabled": true, "shouldEnterBillingRetryOnRenewal": true,
            "isBillingGracePeriodEnabled": true, "failureError": "paymentCancelled",
            "storeKitErrors": {"loadProducts": "networkError"}, "notificationsURL": "http://127.0.0.1:1/apple",
            "sharedSecret": "sharedSecret", "verifyReceiptStatus": 7, "serverAPIRequestsPerMinute": 7}
            """#),
        WireExample(SettingsChanges.self, #"{}"#),
    ]
}
