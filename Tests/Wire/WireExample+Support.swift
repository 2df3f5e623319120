import Wire

extension WireExample {
    private static let notification = """
        {"notificationUUID": "n", "origin": "apple/Production", "type": "DID_FAIL_TO_RENEW", "subtype": "GRACE_PERIOD",
        "transactionId": "2", "originalTransactionId": "1", "signedAt": "2026-11-22T00:00:00Z",
        "receivedAt": "2026-11-22T00:00:01Z", "outcome": "recorded", "content": {"data": {"status": 4}}}
        """
    private static let unclaimed = """
        {"transactionId": "3", "originalTransactionId": "3", "origin": "apple/Production",
        "bundleId": "com.example.garden", "productId": "garden.gate", "purchaseDate": "2026-11-22T00:00:00Z",
        "statedAt": "2026-11-22T00:00:00Z", "appAccountToken": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "item": {"collection": "gate", "number": 1}}
        """
    private static let unrecorded = """
        {"transactionId": "4", "originalTransactionId": "4", "origin": "apple/Production",
        "bundleId": "com.example.garden", "productId": "garden.gate", "purchaseDate": "2026-11-22T00:00:00Z",
        "revocationDate": "2026-11-23T00:00:00Z", "appAccountToken": "6f9619ff-8b86-d011-b42d-00c04fc964ff"}
        """
    private static let purchase = """
        {"owner": {"issuer": "", "name": "alice"}, "originalTransactionId": "1", "origin": "apple/Production",
        "productId": "garden.gate", "state": "owned", "since": "2026-11-22T00:00:00Z", "renews": false,
        "items": [{"collection": "gate", "number": 1}], "transactions": [], "notifications": [\(notification)]}
        """
    private static let entry = """
        {"happenedAt": "2026-11-22T00:00:00Z", "kind": "refused", "text": "Refused.", "actor": "user",
        "actorName": "shop",
        "subject": "garden.gate", "reference": "2", "origin": "apple/Production", "reason": "ownedByAnotherUser",
        "cause": "Another user.", "remedy": "Log in.", "otherOwner": {"issuer": "", "name": "bob"}}
        """
    private static let user = """
        {"user": {"issuer": "", "name": "alice"}, "appAccountToken": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
        "firstSeenAt": "2026-11-22T00:00:00Z"}
        """

    static let support = [
        WireExample(KnownUserResource.self, user),
        WireExample(KnownUserList.self, "{\"users\": [\(user)], \"nextCursor\": \"x\"}"),
        WireExample(StatedNotificationResource.self, notification),
        WireExample(KnownPurchaseResource.self, purchase),
        WireExample(UnclaimedPurchaseResource.self, unclaimed),
        WireExample(UnclaimedPurchaseList.self, "{\"purchases\": [\(unclaimed)]}"),
        WireExample(UnrecordedTransactionResource.self, unrecorded),
        WireExample(
            PurchaseLookup.self,
            """
            {"purchases": [\(purchase)], "unclaimed": [\(unclaimed)], "orderId": "MK5TTTVWJH",
            "unrecorded": [\(unrecorded)]}
            """),
        WireExample(StoryEntryResource.self, entry),
        WireExample(StoryList.self, "{\"entries\": [\(entry)], \"nextCursor\": \"x\"}"),
        WireExample(
            ExplanationResource.self,
            """
            {"item": {"collection": "gate", "number": 1}, "isOwned": false, "cause": "refunded", "text": "Refunded.",
            "remedy": "Grant it.", "since": "2026-11-22T00:00:00Z", "reference": "1", "origin": "apple/Production"}
            """),
        WireExample(
            AssignmentResource.self,
            #"{"transactionId": "3", "user": {"issuer": "", "name": "alice"}, "result": "granted"}"#),
        WireExample(
            BalanceAdditionResource.self,
            """
            {"id": "a", "balance": "seeds", "amount": 10, "reason": "Sorry", "addedBy": "K", "addedByName": "desk",
            "addedAt": "2026-11-22T00:00:00Z"}
            """),
    ]
}
