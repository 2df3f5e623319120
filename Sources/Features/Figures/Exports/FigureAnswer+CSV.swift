extension FigureAnswer {
    /// The answer as CSV (RFC 4180): a row for each period of each series. Amounts are in units of the currency.
    package var csv: String {
        let parts = series.first?.points.first?.parts.map(\.name) ?? []
        let isRate = query.figure.kind == FigureFormula.Kind.rate.rawValue
        let columns =
            ["from", "to", "is_complete"] + (query.group.map { [$0.rawValue] } ?? [])
            + (query.figure.isMoney ? ["currency"] : []) + ["value"] + (isRate ? ["denominator"] : []) + parts
        let times = periods.map { period in
            Self.text([
                .text(period.first.description), .text(period.last.description), .bool(period.isComplete),
            ])
        }
        var text = columns.joined(separator: ",") + "\r\n"
        for series in series {
            let subject: [ExportValue] =
                (query.group == nil ? [] : [.text(series.group)])
                + (query.figure.isMoney ? [.text(series.currency)] : [])
            let subjectText = subject.map { ExportText.cell($0) + "," }.joined()
            // A year of all products has fifty thousand rows.
            for (time, point) in zip(times, series.points) {
                text += time
                text += ","
                text += subjectText
                text += ExportText.cell(amount(point.value))
                if isRate { text += "," + ExportText.cell(.integer(point.denominator)) }
                for part in point.parts { text += "," + ExportText.cell(amount(part.value)) }
                text += "\r\n"
            }
        }
        return text
    }

    private static func text(_ cells: [ExportValue]) -> String {
        cells.map(ExportText.cell).joined(separator: ",")
    }

    private func amount(_ value: Int64) -> ExportValue { query.figure.isMoney ? .amount(value) : .integer(value) }
}
