/// A period of a chart.
package struct ChartPeriod: Sendable {
    /// The short name below the axis.
    let label: Phrase
    /// The name in the table and in tooltips.
    let name: String
    /// False for a period that is not over.
    let isComplete: Bool

    package init(label: Phrase, name: String, isComplete: Bool = true) {
        self.label = label
        self.name = name
        self.isComplete = isComplete
    }
}
