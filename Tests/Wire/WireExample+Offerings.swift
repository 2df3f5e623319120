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
    ]
}
