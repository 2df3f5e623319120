import Wire

extension WireExample {
    /// The examples of figures.
    static let figures: [WireExample] = [
        WireExample(
            FigureResource.self,
            #"{"figure": "revenue", "kind": "sum", "isMoney": true, "definition": "definition"}"#),
        WireExample(
            FigureList.self,
            #"""
            {"figures": [{"figure": "units", "kind": "sum", "isMoney": false, "definition": "definition"}]}
            """#),
        WireExample(FigurePeriodResource.self, #"{"from": "2027-01-01", "to": "2027-01-31", "isComplete": true}"#),
        WireExample(
            FigureSeriesResource.self,
            #"""
            {"group": "productId", "currency": "EUR", "values": [4990, -7], "denominators": [1, 2],
            "parts": {"new": [4990, 0], "churned": [0, -7]}}
            """#),
        WireExample(FigureSeriesResource.self, #"{"values": []}"#),
        WireExample(
            FigureAnswerResource.self,
            #"""
            {"figure": "revenue", "environment": "production", "by": "month", "group": "product",
            "periods": [{"from": "2027-01-01", "to": "2027-01-31", "isComplete": false}],
            "series": [{"group": "productId", "currency": "EUR", "values": [4990]}], "pendingUsers": 7,
            "isBackfilled": true}
            """#),
        WireExample(
            FigureAnswerResource.self,
            #"""
            {"figure": "units", "environment": "sandbox", "by": "day", "periods": [], "series": [],
            "pendingUsers": 0, "isBackfilled": false}
            """#),
    ]
}
