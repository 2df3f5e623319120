import Features
import HTTPSupport
import Proofs

extension APIOperation {
    static let figures = [listFigures, getFigure]

    static let listFigures = APIOperation(
        .get, "/v1/figures", for: .backEnd(.figures), isPerApp: true,
        "listFigures", "Lists the figures and their definitions",
        answers: [.list("The figures of the service.", of: FigureResource.self)])

    static let getFigure = APIOperation(
        .get, "/v1/figures/{figure}", for: .backEnd(.figures), isPerApp: true,
        "getFigure", "Returns a figure by day, week or month",
        parameters: [
            .path("figure", "The name of the figure.", .one(of: Figure.self)),
            .query(
                "from",
                "The first day, in UTC. The answer covers its whole period. The default is 28 days before the end.",
                .day()),
            .query(
                "to", "The last day, in UTC. The answer covers its whole period, up to today. The default is today.",
                .day()),
            .query(
                "by", "The length of the periods. A week begins on Monday.",
                .one(of: FigureInterval.self, default: .day)),
            .query(
                "group", "The dimension of the series. A figure of money also has one series for each currency.",
                .one(of: FigureQuery.Group.self)),
            .query(
                "environment", "The environment. The sandbox includes Xcode's purchases.",
                .one(of: FigureQuery.Environment.self, default: .production)),
            .query("app", "Only sales of one app, by its bundle identifier."),
            .query("product", "Only sales of one product. Cannot be combined with a storefront."),
            .query(
                "storefront",
                "Only sales of one storefront (ISO 3166-1, three letters). Cannot be combined with a product."),
        ],
        answers: [.json("The figure.", FigureAnswerResource.self)])
}

extension FigureResource: SchemaSource {
    package static let schema = Schema(
        of: FigureResource.self, named: "Figure", "A figure of the service.",
        [
            "figure": .one(of: Figure.self),
            "kind": .one(
                of: ["sum", "level", "rate", "movement"],
                "`sum`: the sum over the days of a period; `level`: the value at the end of a period; `rate`: a sum divided by another; `movement`: a sum with its parts."
            ),
            "isMoney": "True if the values are milliunits of a currency.",
        ])
}

extension FigureAnswerResource.Period: SchemaSource {
    package static let schema = Schema(
        of: FigureAnswerResource.Period.self, named: "FigurePeriod", "A period of a figure.",
        [
            "from": .day("The first day, in UTC."),
            "to": .day("The last day, in UTC."),
            "isComplete": "True if the last day is over.",
        ])
}

extension FigureAnswerResource.Series: SchemaSource {
    package static let schema = Schema(
        of: FigureAnswerResource.Series.self, named: "FigureSeries", "The values of a figure, one for each period.",
        [
            "group": "The app, product, storefront or origin. Empty if the App Store has not stated the storefront.",
            "currency": "The ISO 4217 code, for a figure of money.",
            "values": "Counts, or milliunits of the currency. For a rate, the numerators.",
            "denominators": "The denominators of a rate.",
            "parts": "The parts of a movement: `new`, `resubscribed`, `changed` and `churned`.",
        ])
}

extension FigureAnswerResource: SchemaSource {
    package static let schema = Schema(
        of: FigureAnswerResource.self, named: "FigureAnswer", "The values of a figure over time.",
        [
            "figure": .one(of: Figure.self),
            "environment": .one(of: FigureQuery.Environment.self),
            "by": .one(of: FigureInterval.self),
            "group": .one(of: FigureQuery.Group.self),
            "pendingUsers": .integer(
                "The number of users with writes that the sums do not include yet.", in: 0...10000),
            "isBackfilled":
                "True if the sums include all users from before figures were turned on, or `pendingUsers` counts them.",
        ])
}
