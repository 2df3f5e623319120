import Service

/// A figure as a table for a terminal: a row for each period of each series.
struct FigureTable {
    private let answer: FigureAnswerResource

    init(_ answer: FigureAnswerResource) {
        self.answer = answer
    }

    var lines: [String] {
        let parts = Set(answer.series.flatMap { $0.parts.map { Array($0.keys) } ?? [] }).sorted()
        let hasCurrency = answer.series.contains { $0.currency != nil }
        let hasDenominator = answer.series.contains { $0.denominators != nil }
        var table = TextTable(
            header: ["FROM", "TO"] + (answer.group.map { [$0.uppercased()] } ?? [])
                + (hasCurrency ? ["CURRENCY"] : []) + ["VALUE"] + (hasDenominator ? ["OF"] : [])
                + parts.map { $0.uppercased() })
        for series in answer.series {
            let group = answer.group.map { _ in [series.group.flatMap { $0.isEmpty ? nil : $0 } ?? "-"] } ?? []
            for (index, period) in answer.periods.enumerated() where series.values.indices.contains(index) {
                // A period that is not over.
                let end = period.to + (period.isComplete ? "" : "*")
                table.add(
                    [period.from, end] + group + (hasCurrency ? [series.currency ?? "-"] : [])
                        + [String(series.values[index])]
                        + (hasDenominator ? [Self.text(series.denominators, index)] : [])
                        + parts.map { Self.text(series.parts?[$0], index) })
            }
        }
        guard !answer.series.isEmpty else { return ["Nothing was sold in this time."] }
        return table.lines
    }

    private static func text(_ values: [Int64]?, _ index: Int) -> String {
        guard let values, values.indices.contains(index) else { return "-" }
        return String(values[index])
    }
}
