import Wire

extension WireExample {
    /// The examples of users and their items.
    static let users: [WireExample] = [
        WireExample(AppAccountTokenResource.self, #"{"appAccountToken": "6f9619ff-8b86-d011-b42d-00c04fc964ff"}"#),
        WireExample(
            AttributeResource.self,
            #"""
            {"name": "$email", "value": "mint@example.com", "statedAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            AttributeList.self,
            #"""
            {"attributes": [{"name": "level", "value": "7", "statedAt": "2027-01-31T12:00:00Z"}]}
            """#),
        WireExample(
            OwnedItemList.self,
            #"{"items": [{"collection": "sprout", "number": 0, "source": "rule", "state": "owned", "renews": false}]}"#),
        WireExample(
            OwnedItemResource.self,
            """
            {"collection": "plus", "number": 1, "source": "purchase", "state": "active",
            "since": "2026-11-22T00:00:00Z", "until": "2026-12-22T00:00:00Z", "renews": true,
            "productId": "garden.basic.monthly", "transactionId": "2", "originalTransactionId": "1",
            "origin": "local/Sandbox"}
            """),
        WireExample(
            OwnedItemResource.self,
            """
            {"collection": "plus", "number": 1, "source": "grant", "state": "owned", "since": "2026-11-22T00:00:00Z",
            "renews": false, "grant": "7"}
            """),
        WireExample(
            RevocationResource.self,
            #"""
            {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy", "revokedByName": "shop"}
            """#),
        WireExample(
            GrantResource.self,
            #"""
            {"grantId": "grantId", "item": {"collection": "sprout", "number": 1}, "reason": "gift",
            "grantedBy": "grantedBy", "grantedByName": "shop", "grantedAt": "2027-01-31T12:00:00Z",
            "endsAt": "2027-01-31T12:00:00Z",
            "revocation": {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy"}}
            """#),
        WireExample(
            GrantResource.self,
            #"""
            {"grantId": "grantId", "item": {"collection": "sprout", "number": 1}, "reason": "gift",
            "grantedBy": "grantedBy", "grantedAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            GrantList.self,
            #"""
            {"grants": [{"grantId": "grantId", "item": {"collection": "sprout", "number": 1}, "reason": "gift",
            "grantedBy": "grantedBy", "grantedAt": "2027-01-31T12:00:00Z", "endsAt": "2027-01-31T12:00:00Z",
            "revocation": {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy"}}],
            "nextCursor": "nextCursor"}
            """#),
        WireExample(
            GrantList.self,
            #"""
            {"grants": [{"grantId": "grantId", "item": {"collection": "sprout", "number": 1}, "reason": "gift",
            "grantedBy": "grantedBy", "grantedAt": "2027-01-31T12:00:00Z"}]}
            """#),
        WireExample(
            UserSubscriptionResource.self,
            #"""
            {"originalTransactionId": "originalTransactionId", "origin": "local/Sandbox", "productId": "productId",
            "state": "expired", "since": "2027-01-31T12:00:00Z", "until": "2027-01-31T12:00:00Z", "renews": false,
            "nextProductId": "nextProductId", "expirationReason": "customerCancelled"}
            """#),
        WireExample(
            UserSubscriptionList.self,
            #"""
            {"subscriptions": [{"originalTransactionId": "originalTransactionId", "origin": "local/Sandbox",
            "productId": "productId", "state": "active", "since": "2027-01-31T12:00:00Z"}]}
            """#),
        WireExample(
            RenewalInfoResource.self,
            #"""
            {"originalTransactionId": "originalTransactionId",
            "origin": "local/Sandbox",
            "signedDate": "2027-01-31T12:00:00Z",
            "facts": {}}
            """#),
        WireExample(
            TransactionResource.self,
            #"""
            {"bundleId": "bundleId", "transactionId": "transactionId",
            "originalTransactionId": "originalTransactionId",
            "productId": "productId", "quantity": 7, "origin": "local/Sandbox",
            "purchaseDate": "2027-01-31T12:00:00Z", "redeemedAt": "2027-01-31T12:00:00Z",
            "expiresDate": "2027-01-31T12:00:00Z", "revocationDate": "2027-01-31T12:00:00Z", "revocationReason": 1,
            "revocation": {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy"},
            "facts": {"price": 1200000, "currency": "KRW", "storefront": "KOR"}}
            """#),
        WireExample(
            TransactionResource.self,
            #"""
            {"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "productId": "productId", "quantity": 7, "origin": "local/Sandbox",
            "purchaseDate": "2027-01-31T12:00:00Z", "redeemedAt": "2027-01-31T12:00:00Z", "facts": {}}
            """#),
        WireExample(
            TransactionList.self,
            #"""
            {"transactions": [{"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "productId": "productId", "quantity": 7, "origin": "local/Sandbox",
            "purchaseDate": "2027-01-31T12:00:00Z", "redeemedAt": "2027-01-31T12:00:00Z",
            "expiresDate": "2027-01-31T12:00:00Z", "revocationDate": "2027-01-31T12:00:00Z", "revocationReason": 1,
            "revocation": {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy"},
            "facts": {}}],
            "nextCursor": "nextCursor"}
            """#),
        WireExample(
            TransactionList.self,
            #"""
            {"transactions": [{"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "productId": "productId", "quantity": 7, "origin": "local/Sandbox",
            "purchaseDate": "2027-01-31T12:00:00Z", "redeemedAt": "2027-01-31T12:00:00Z", "facts": {}}]}
            """#),
        WireExample(BalanceResource.self, #"{"balance": "balance", "amount": 7}"#),
        WireExample(BalanceList.self, #"{"balances": [{"balance": "balance", "amount": 7}]}"#),
        WireExample(
            SpendingResource.self,
            #"""
            {"spendingId": "spendingId", "balance": "balance", "amount": 7, "left": 7, "reason": "gift",
            "spentBy": "spentBy", "spentByName": "shop", "spentAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            ProfileResource.self,
            #"""
            {"nickname": "nickname", "chosen": [{"collection": "sprout", "number": 1}]}
            """#),
        WireExample(ProfileResource.self, #"{"chosen": [{"collection": "sprout", "number": 1}]}"#),
        WireExample(UserName.self, #"{"issuer": "", "name": "alice"}"#),
        WireExample(
            EventResource.self,
            #"""
            {"happenedAt": "2027-01-31T12:00:00Z", "reference": "reference", "subject": "subject"}
            """#),
        WireExample(EventResource.self, #"{"happenedAt": "2027-01-31T12:00:00Z"}"#),
        WireExample(
            UserArchiveResource.self,
            #"""
            {"exportedAt": "2027-01-31T12:00:00Z", "user": {"issuer": "", "name": "alice"},
            "firstSeenAt": "2027-01-31T12:00:00Z", "appAccountToken": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
            "aliases": [{"issuer": "customer", "name": "$RCAnonymousID:1"}],
            "account": {"accountId": "accountId", "email": "mint@example.com", "createdAt": "2027-01-31T12:00:00Z"},
            "sessions": [{"beganAt": "2027-01-31T12:00:00Z", "endsAt": "2027-01-31T12:00:00Z"}],
            "mails": [{"purpose": "reset", "email": "mint@example.com", "askedAt": "2027-01-31T12:00:00Z",
            "sentAt": "2027-01-31T12:00:00Z"}, {"purpose": "reset", "email": "mint@example.com",
            "askedAt": "2027-01-31T12:00:00Z"}],
            "member": {"phoneNumber": "phoneNumber", "email": "mint@example.com", "fcmToken": "fcmToken",
            "birth": "birth", "gender": 7, "joinedAt": "2027-01-31T12:00:00Z"},
            "attributes": [{"name": "$email", "value": "mint@example.com", "statedAt": "2027-01-31T12:00:00Z"}],
            "nickname": "nickname",
            "chosen": [{"collection": "sprout", "number": 1}], "wishes": [{"productId": "productId",
            "wishedAt": "2027-01-31T12:00:00Z"}], "items": [{"collection": "sprout", "number": 1}],
            "transactions": [{"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "productId": "productId", "quantity": 7, "origin": "local/Sandbox",
            "purchaseDate": "2027-01-31T12:00:00Z", "redeemedAt": "2027-01-31T12:00:00Z",
            "expiresDate": "2027-01-31T12:00:00Z", "revocationDate": "2027-01-31T12:00:00Z", "revocationReason": 1,
            "revocation": {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy"},
            "facts": {}}],
            "renewalInfos": [{"originalTransactionId": "originalTransactionId", "origin": "local/Sandbox",
            "signedDate": "2027-01-31T12:00:00Z", "facts": {"autoRenewStatus": 1}}],
            "grants": [{"grantId": "grantId", "item": {"collection": "sprout", "number": 1}, "reason": "gift",
            "grantedBy": "grantedBy", "grantedAt": "2027-01-31T12:00:00Z", "endsAt": "2027-01-31T12:00:00Z",
            "revocation": {"revokedAt": "2027-01-31T12:00:00Z", "reason": "gift", "revokedBy": "revokedBy"}}],
            "balances": [{"balance": "balance", "amount": 7}], "events": [{"happenedAt": "2027-01-31T12:00:00Z",
            "event": "event", "actor": "actor", "actorName": "shop", "origin": "local/Sandbox",
            "reference": "reference", "subject": "subject", "reason": "gift"}]}
            """#),
        WireExample(
            UserArchiveResource.self,
            #"""
            {"exportedAt": "2027-01-31T12:00:00Z", "user": {"issuer": "", "name": "alice"},
            "firstSeenAt": "2027-01-31T12:00:00Z", "appAccountToken": "6f9619ff-8b86-d011-b42d-00c04fc964ff",
            "sessions": [{"beganAt": "2027-01-31T12:00:00Z", "endsAt": "2027-01-31T12:00:00Z"}],
            "attributes": [],
            "chosen": [{"collection": "sprout", "number": 1}], "wishes": [{"productId": "productId",
            "wishedAt": "2027-01-31T12:00:00Z"}], "items": [{"collection": "sprout", "number": 1}],
            "transactions": [{"transactionId": "transactionId", "originalTransactionId": "originalTransactionId",
            "productId": "productId", "quantity": 7, "origin": "local/Sandbox",
            "purchaseDate": "2027-01-31T12:00:00Z", "redeemedAt": "2027-01-31T12:00:00Z", "facts": {}}],
            "renewalInfos": [],
            "grants": [{"grantId": "grantId", "item": {"collection": "sprout", "number": 1}, "reason": "gift",
            "grantedBy": "grantedBy", "grantedAt": "2027-01-31T12:00:00Z"}], "balances": [{"balance": "balance",
            "amount": 7}], "events": [{"happenedAt": "2027-01-31T12:00:00Z", "event": "event", "actor": "actor",
            "reference": "reference", "subject": "subject"}]}
            """#),
        WireExample(
            AccountResource.self,
            #"""
            {"accountId": "accountId", "email": "mint@example.com", "createdAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            AccountResource.self,
            #"""
            {"accountId": "accountId", "email": "mint@example.com", "emailVerifiedAt": "2027-01-31T12:00:00Z",
            "createdAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(AccountResource.self, #"{"accountId": "accountId", "createdAt": "2027-01-31T12:00:00Z"}"#),
        WireExample(ConfirmationResource.self, #"{"outcome": "waitsForOther"}"#),
        WireExample(
            TokensResource.self,
            #"""
            {"accessToken": "accessToken", "accessTokenExpiresAt": "2027-01-31T12:00:00Z",
            "refreshToken": "refreshToken", "refreshTokenExpiresAt": "2027-01-31T12:00:00Z"}
            """#),
        WireExample(
            EntranceResource.self,
            #"""
            {"account": {"accountId": "accountId", "email": "mint@example.com",
            "createdAt": "2027-01-31T12:00:00Z"}, "tokens": {"accessToken": "accessToken",
            "accessTokenExpiresAt": "2027-01-31T12:00:00Z", "refreshToken": "refreshToken",
            "refreshTokenExpiresAt": "2027-01-31T12:00:00Z"}}
            """#),
        WireExample(
            RenewalResource.self,
            #"""
            {"tokens": {"accessToken": "accessToken", "accessTokenExpiresAt": "2027-01-31T12:00:00Z",
            "refreshToken": "refreshToken", "refreshTokenExpiresAt": "2027-01-31T12:00:00Z"}}
            """#),
        WireExample(AvailabilityResource.self, #"{"isAvailable": true}"#),
    ]
}
