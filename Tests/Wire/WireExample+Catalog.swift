import Wire

extension WireExample {
    /// The examples of the catalog.
    static let catalog: [WireExample] = [
        WireExample(
            ProductList.self,
            #"""
            {"products": [{"productId": "moon", "type": "Consumable", "displayName": "Moon", "description": "",
            "price": 4990, "currency": "USD", "displayPrice": "USD 4.99", "item": {"collection": "sprout",
            "number": 1}, "picture": "/v1/pictures/sprout/1?v=0123456789abcdef", "credit": {"balance": "seeds",
            "amount": 10}, "isWithdrawn": true, "isOwned": true, "isWished": true,
            "wishedAt": "2027-01-31T12:00:00Z", "subscription": {"subscriptionGroupIdentifier": "garden",
            "level": 1, "period": "P1Y", "offers": [{"offerType": "promotional", "paymentMode": "payUpFront", "period": "P1M",
            "periodCount": 1, "offerIdentifier": "spring", "price": 990}]}}], "nextCursor": "nextCursor"}
            """#),
        WireExample(
            ProductList.self,
            #"""
            {"products": [{"productId": "moon", "type": "Consumable", "displayName": "Moon", "description": "",
            "price": 4990, "currency": "USD", "displayPrice": "USD 4.99"}]}
            """#),
        WireExample(
            PictureResource.self,
            #"""
            {"item": {"collection": "sprout", "number": 1}, "picture": "/v1/pictures/sprout/1?v=0123456789abcdef"}
            """#),
        WireExample(PictureResource.self, #"{"item": {"collection": "sprout", "number": 1}}"#),
        WireExample(
            PictureList.self,
            #"""
            {"pictures": [{"item": {"collection": "sprout", "number": 1},
            "picture": "/v1/pictures/sprout/1?v=0123456789abcdef"}]}
            """#),
        WireExample(PictureList.self, #"{"pictures": [{"item": {"collection": "sprout", "number": 1}}]}"#),
        WireExample(
            CatalogProductResource.self,
            #"""
            {"productId": "productId", "isWithdrawn": true, "isAdministered": true,
            "definition": {"displayPrice": "2500", "number": 1.5, "list": [true, null, "x"]},
            "picture": "/v1/pictures/sprout/1?v=0123456789abcdef"}
            """#),
        WireExample(
            CatalogProductResource.self,
            #"""
            {"productId": "productId", "isWithdrawn": true, "isAdministered": true,
            "definition": {"displayPrice": "2500", "number": 1.5, "list": [true, null, "x"]}}
            """#),
        WireExample(
            CatalogProductList.self,
            #"""
            {"products": [{"productId": "productId", "isWithdrawn": true, "isAdministered": true,
            "definition": {"displayPrice": "2500", "number": 1.5, "list": [true, null, "x"]},
            "picture": "/v1/pictures/sprout/1?v=0123456789abcdef"}], "nextCursor": "nextCursor"}
            """#),
        WireExample(
            CatalogProductList.self,
            #"""
            {"products": [{"productId": "productId", "isWithdrawn": true, "isAdministered": true,
            "definition": {"displayPrice": "2500", "number": 1.5, "list": [true, null, "x"]}}]}
            """#),
        WireExample(
            CatalogChangeResource.self,
            #"""
            {"number": 7, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy", "changedByName": "shop",
            "kind": "kind", "productId": "productId", "definition": {"displayPrice": "2500", "number": 1.5, "list": [true, null,
            "x"]}, "item": {"collection": "sprout", "number": 1}, "sha256": "sha256"}
            """#),
        WireExample(
            CatalogChangeResource.self,
            #"""
            {"number": 7, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy", "kind": "kind",
            "productId": "productId"}
            """#),
        WireExample(
            CatalogChangeList.self,
            #"""
            {"changes": [{"number": 7, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy",
            "kind": "kind", "productId": "productId", "definition": {"displayPrice": "2500", "number": 1.5,
            "list": [true, null, "x"]}, "item": {"collection": "sprout", "number": 1}, "sha256": "sha256"}],
            "nextCursor": "nextCursor"}
            """#),
        WireExample(
            CatalogChangeList.self,
            #"""
            {"changes": [{"number": 7, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy",
            "kind": "kind", "productId": "productId"}]}
            """#),
        WireExample(
            ProductResource.self,
            #"""
            {"productId": "moon", "type": "Consumable", "displayName": "Moon", "description": "", "price": 4990,
            "currency": "USD", "displayPrice": "USD 4.99", "item": {"collection": "sprout", "number": 1},
            "picture": "/v1/pictures/sprout/1?v=0123456789abcdef", "credit": {"balance": "seeds", "amount": 10},
            "isWithdrawn": true, "isOwned": true, "isWished": true, "wishedAt": "2027-01-31T12:00:00Z",
            "subscription": {"subscriptionGroupIdentifier": "garden", "level": 1, "period": "P1Y",
            "offers": [{"offerType": "promotional", "paymentMode": "payUpFront", "period": "P1M", "periodCount": 1,
            "offerIdentifier": "spring", "price": 990}]}}
            """#),
        WireExample(
            ProductResource.self,
            #"""
            {"productId": "moon", "type": "Consumable", "displayName": "Moon", "description": "", "price": 4990,
            "currency": "USD", "displayPrice": "USD 4.99"}
            """#),
        WireExample(
            SubscriptionResource.self,
            #"""
            {"subscriptionGroupIdentifier": "garden", "level": 1, "period": "P1Y", "offers": [{"offerType": "promotional",
            "paymentMode": "payUpFront", "period": "P1M", "periodCount": 1, "offerIdentifier": "spring",
            "price": 990}]}
            """#),
        WireExample(
            SubscriptionResource.self,
            #"""
            {"subscriptionGroupIdentifier": "garden", "level": 1, "period": "P1Y", "offers": [{"offerType": "promotional",
            "paymentMode": "payUpFront", "period": "P1M", "periodCount": 1}]}
            """#),
        WireExample(JSONContent.self, #"{"displayPrice": "2500", "number": 1.5, "list": [true, null, "x"]}"#),
    ]
}
