/// The figures that the service computes.
package struct FigureList: Codable, Sendable {
    package let figures: [FigureResource]
}
