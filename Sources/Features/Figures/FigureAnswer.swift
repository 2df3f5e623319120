import Proofs

/// The values of a figure over time.
package struct FigureAnswer: Hashable, Sendable {
    /// The values of one app, product, storefront, origin or currency.
    package struct Series: Hashable, Sendable {
        /// The subject of the series; nil without a group. Empty for a storefront that the App Store has not stated. The number
        /// of months after the first payment for retention.
        package let group: String?
        /// The ISO 4217 code; nil for a figure that is not money.
        package let currency: String?
        /// The points of the periods, in order.
        package let points: [Point]
    }

    package struct Point: Hashable, Sendable {
        /// A count, or milliunits of the currency. For a quotient, its numerator.
        package let value: Int64
        /// The denominator of a rate or an average; the size of a cohort.
        package let denominator: Int64?
        /// The parts of a movement, in order.
        package let parts: [Part]

        package init(value: Int64, denominator: Int64? = nil, parts: [Part] = []) {
            (self.value, self.denominator, self.parts) = (value, denominator, parts)
        }
    }

    package struct Part: Hashable, Sendable {
        package let name: String
        package let value: Int64
    }

    package struct Period: Hashable, Sendable {
        package let first: CalendarDay
        package let last: CalendarDay
        /// True if the last day is over.
        package let isComplete: Bool
    }

    package let query: FigureQuery
    package let periods: [Period]
    package let series: [Series]
    /// The number of users with writes that the sums do not include yet, up to `maximumPending`.
    package let pendingUsers: Int
    /// True if all users from before figures were turned on were found.
    package let isBackfilled: Bool

    package static let maximumPending = 10_000

    /// The answer as CSV (RFC 4180): a row for each period of each series. Amounts are in units of the currency.
    package var csv: String {
        let parts = series.first?.points.first?.parts.map(\.name) ?? []
        let isQuotient = query.figure.isQuotient
        let group = query.figure == .retention ? "months_after" : query.group?.rawValue
        let columns =
            ["from", "to", "is_complete"] + (group.map { [$0] } ?? [])
            + (query.figure.isMoney ? ["currency"] : []) + ["value"] + (isQuotient ? ["denominator"] : []) + parts
        let times = periods.map { period in
            ExportText.cells([
                .text(period.first.description), .text(period.last.description), .bool(period.isComplete),
            ])
        }
        var text = columns.joined(separator: ",") + "\r\n"
        for series in series {
            let subject: [ExportValue] =
                (group == nil ? [] : [.text(series.group)])
                + (query.figure.isMoney ? [.text(series.currency)] : [])
            let subjectText = subject.map { ExportText.cell($0) + "," }.joined()
            // A year of all products has fifty thousand rows.
            for (time, point) in zip(times, series.points) {
                text += time
                text += ","
                text += subjectText
                text += ExportText.cell(amount(point.value))
                if isQuotient { text += "," + ExportText.cell(.integer(point.denominator)) }
                for part in point.parts { text += "," + ExportText.cell(amount(part.value)) }
                text += "\r\n"
            }
        }
        return text
    }

    private func amount(_ value: Int64) -> ExportValue { query.figure.isMoney ? .amount(value) : .integer(value) }
}
