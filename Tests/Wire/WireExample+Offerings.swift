import Wire

extension WireExample {
    /// The examples of rights and offerings.
    static let offerings: [WireExample] = [
        WireExample(
            OfferingList.self,
            #"""
            {"currentOffering": "standard", "offerings": [{"identifier": "standard", "description": "Plus",
            "metadata": {"color": "#2F855A", "rank": 1.5}, "packages": [{"identifier": "$rc_monthly",
            "productId": "garden.plus.monthly"}]}]}
            """#),
        WireExample(OfferingList.self, #"{"offerings": []}"#),
        WireExample(
            OfferingResource.self,
            #"""
            {"identifier": "standard", "description": "Plus", "metadata": {"color": "#2F855A", "rank": 1.5},
            "packages": [{"identifier": "$rc_monthly", "productId": "garden.plus.monthly"}]}
            """#),
        WireExample(OfferingResource.self, #"{"identifier": "standard", "description": "", "packages": []}"#),
        WireExample(PackageResource.self, #"{"identifier": "$rc_monthly", "productId": "garden.plus.monthly"}"#),
        WireExample(
            UserRightList.self,
            #"""
            {"rights": [{"name": "premium", "collection": "plus", "number": 0, "source": "rule", "state": "owned",
            "renews": false}]}
            """#),
        WireExample(
            UserRightResource.self,
            #"""
            {"name": "premium", "collection": "plus", "number": 1, "source": "purchase", "state": "active",
            "since": "2026-11-22T00:00:00Z", "until": "2026-12-22T00:00:00Z", "renews": true,
            "productId": "garden.basic.monthly", "transactionId": "2", "originalTransactionId": "1",
            "origin": "local/Sandbox"}
            """#),
        WireExample(
            UserRightResource.self,
            #"""
            {"name": "premium", "collection": "plus", "number": 1, "source": "grant", "state": "owned",
            "since": "2026-11-22T00:00:00Z", "renews": false, "grant": "7"}
            """#),
        WireExample(
            CatalogRightResource.self,
            #"{"name": "premium", "isAdministered": true, "definition": {"products": ["garden.plus.monthly"]}}"#),
        WireExample(
            CatalogRightList.self,
            #"""
            {"rights": [{"name": "premium", "isAdministered": false, "definition": {"items": [{"collection": "plus",
            "number": 1}]}}], "nextCursor": "nextCursor"}
            """#),
        WireExample(CatalogRightList.self, #"{"rights": []}"#),
        WireExample(
            CatalogOfferingResource.self,
            #"""
            {"identifier": "standard", "isCurrent": true, "isAdministered": true, "definition": {"description": "Plus",
            "packages": [{"identifier": "$rc_monthly", "productID": "garden.plus.monthly"}]}}
            """#),
        WireExample(
            CatalogOfferingList.self,
            #"""
            {"offerings": [{"identifier": "standard", "isCurrent": false, "isAdministered": false,
            "definition": {"description": "", "packages": []}}], "nextCursor": "nextCursor"}
            """#),
        WireExample(CatalogOfferingList.self, #"{"offerings": []}"#),
        WireExample(CurrentOfferingResource.self, #"{"identifier": "standard", "isAdministered": true}"#),
        WireExample(CurrentOfferingResource.self, #"{"isAdministered": false}"#),
        WireExample(
            CatalogChangeResource.self,
            #"""
            {"number": 7, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy", "kind": "reverted",
            "right": "premium"}
            """#),
        WireExample(
            CatalogChangeResource.self,
            #"""
            {"number": 8, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy", "kind": "defined",
            "offering": "standard", "definition": {"description": "", "packages": []}}
            """#),
        WireExample(
            CatalogChangeResource.self,
            #"""
            {"number": 9, "happenedAt": "2027-01-31T12:00:00Z", "changedBy": "changedBy", "kind": "defined",
            "isOfCurrentOffering": true, "definition": {"identifier": "standard"}}
            """#),
    ]
}
