/// The values of a chart under one name.
package struct ChartSeries: Sendable {
    package struct Point: Sendable {
        /// Nil for a period without a value, such as a rate of nothing.
        let value: Double?
        /// The exact value, for the table and for tooltips.
        let text: Phrase

        package init(_ value: Double?, _ text: Phrase) {
            self.value = value
            self.text = text
        }
    }

    let name: Phrase
    /// A point for each period.
    let points: [Point]

    package init(_ name: Phrase, _ points: [Point]) {
        self.name = name
        self.points = points
    }
}
