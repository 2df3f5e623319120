import Wire

extension WireExample {
    /// The examples of webhooks, proofs, problems and the seed's own app.
    static let messages: [WireExample] = [
        WireExample(
            ProofResource.self,
            #"""
            {"kind": "appReceipt", "origin": "local/Sandbox", "environment": "Sandbox", "bundleId": "bundleId",
            "signedAt": "2027-01-31T12:00:00Z", "purchases": [{"productId": "productId",
            "transactionId": "transactionId", "originalTransactionId": "originalTransactionId", "quantity": 7,
            "purchaseDate": "2027-01-31T12:00:00Z", "revocationDate": "2027-01-31T12:00:00Z"}]}
            """#),
        WireExample(
            ProofResource.self,
            #"""
            {"kind": "appReceipt", "origin": "local/Sandbox", "environment": "Sandbox",
            "signedAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            MailRequest.self,
            #"""
            {"type": "mail.addressChange", "timestamp": "2027-01-31T12:00:00Z", "data": {"to": "mint@example.com",
            "from": "Garden <no-reply@example.com>", "language": "en", "subject": "subject", "text": "text",
            "link": "https://example.com/account#confirm=token", "token": "token",
            "linkExpiresAt": "2027-01-31T12:00:00Z", "newEmail": "new@example.com"}}
            """#),
        WireExample(NotificationReceipt.self, #"{"outcome": "outcome"}"#),
        WireExample(SignedNotification.self, #"{"signedPayload": "signedPayload"}"#),
        WireExample(
            WebhookResource.self,
            #"""
            {"webhookId": "webhookId", "url": "https://example.com/hooks", "format": "till", "hasAuthorization": false,
            "createdAt": "2027-01-31T12:00:00Z", "createdBy": "createdBy", "createdByName": "shop",
            "app": "com.example.garden", "secret": "secret"}
            """#),
        WireExample(
            WebhookResource.self,
            #"""
            {"webhookId": "webhookId", "url": "https://example.com/hooks", "format": "till", "hasAuthorization": false,
            "createdAt": "2027-01-31T12:00:00Z", "createdBy": "createdBy"}
            """#),
        WireExample(
            WebhookList.self,
            #"""
            {"webhooks": [{"webhookId": "webhookId", "url": "https://example.com/hooks", "format": "revenuecat",
            "hasAuthorization": true, "createdAt": "2027-01-31T12:00:00Z", "createdBy": "createdBy",
            "secret": "secret"}]}
            """#),
        WireExample(
            WebhookList.self,
            #"""
            {"webhooks": [{"webhookId": "webhookId", "url": "https://example.com/hooks", "format": "revenuecat",
            "hasAuthorization": true, "createdAt": "2027-01-31T12:00:00Z", "createdBy": "createdBy"}]}
            """#),
        WireExample(
            WebhookSecretsResource.self,
            #"""
            {"secret": "secret", "previousSecret": "previousSecret", "previousSecretEndsAt": "2027-01-31T12:00:00Z",
            "authorization": "Bearer hooks"}
            """#),
        WireExample(WebhookSecretsResource.self, #"{"secret": "secret"}"#),
        WireExample(
            WebhookDeliveryResource.self,
            #"""
            {"messageId": "messageId", "state": "state", "attempts": 7,
            "lastAttempt": {"attemptedAt": "2027-01-31T12:00:00Z", "status": 500, "error": "error",
            "durationMilliseconds": 7, "response": "response"},
            "nextAttemptAt": "2027-01-31T12:00:00Z", "message": {"type": "purchase.granted",
            "timestamp": "2027-01-31T12:00:00Z", "data": {"user": {"issuer": "", "name": "alice"}, "number": 7,
            "actor": "actor", "origin": "local/Sandbox", "transactionId": "transactionId",
            "originalTransactionId": "originalTransactionId", "productId": "productId", "grantId": "grantId",
            "item": {"collection": "sprout", "number": 1}, "reason": "gift"}}}
            """#),
        WireExample(WebhookDeliveryResource.self, #"{"messageId": "messageId", "state": "state", "attempts": 7}"#),
        WireExample(
            WebhookDeliveryResource.self,
            #"""
            {"messageId": "messageId", "state": "state", "attempts": 7,
            "revenueCatMessage": {"api_version": "1.0", "event": {"type": "TRANSFER"}}}
            """#),
        WireExample(
            WebhookDeliveryList.self,
            #"""
            {"deliveries": [{"messageId": "messageId", "state": "state", "attempts": 7,
            "lastAttempt": {"attemptedAt": "2027-01-31T12:00:00Z", "status": 500, "error": "error",
            "durationMilliseconds": 7, "response": "response"},
            "nextAttemptAt": "2027-01-31T12:00:00Z", "message": {"type": "purchase.granted",
            "timestamp": "2027-01-31T12:00:00Z", "data": {"user": {"issuer": "", "name": "alice"}, "number": 7,
            "actor": "actor", "origin": "local/Sandbox", "transactionId": "transactionId",
            "originalTransactionId": "originalTransactionId", "productId": "productId", "grantId": "grantId",
            "item": {"collection": "sprout", "number": 1}, "reason": "gift"}}}], "nextCursor": "nextCursor"}
            """#),
        WireExample(
            WebhookDeliveryList.self,
            #"""
            {"deliveries": [{"messageId": "messageId", "state": "state", "attempts": 7}]}
            """#),
        WireExample(WebhookReplayResource.self, #"{"replayed": 7}"#),
        WireExample(
            WebhookMessage.self,
            #"""
            {"type": "purchase.granted", "timestamp": "2027-01-31T12:00:00Z", "data": {"user": {"issuer": "",
            "name": "alice"}, "number": 7, "actor": "actor", "actorName": "shop", "origin": "local/Sandbox",
            "transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "productId": "productId", "grantId": "grantId", "item": {"collection": "sprout", "number": 1},
            "reason": "gift"}}
            """#),
        WireExample(
            WebhookMessage.self,
            #"""
            {"type": "purchase.granted", "timestamp": "2027-01-31T12:00:00Z", "data": {"user": {"issuer": "",
            "name": "alice"}, "number": 7, "actor": "actor"}}
            """#),
        WireExample(
            ProblemResource.self,
            #"""
            {"type": "/errors#productNotFound", "title": "title", "status": 404, "code": "code", "detail": "detail",
            "couldSucceedLater": true}
            """#),
        WireExample(
            SeedAppUser.self,
            #"""
            {"_id": "_id", "__v": 7, "uid": "uid", "phoneNumber": "phoneNumber", "email": "mint@example.com",
            "FCMtoken": "FCMtoken", "nick": "nick", "birth": "birth", "gender": 7, "study": "study",
            "comment": ["1000"], "reputation": [0, 1], "sesac": 7, "sesacCollection": [0, 1], "background": 7,
            "backgroundCollection": [0, 1], "purchaseToken": ["1000"], "transactionId": ["1000"],
            "reviewedBefore": ["1000"], "reportedNum": 7, "reportedUser": ["1000"], "dodgepenalty": 7,
            "dodgeNum": 7, "ageMin": 7, "ageMax": 7, "searchable": 7, "createdAt": "2027-01-31T12:00:00Z"}
            """#),
    ]
}
