/// The figures that the service computes.
public struct FigureList: Codable, Sendable {
    public let figures: [FigureResource]

    public init(figures: [FigureResource]) {
        self.figures = figures
    }
}
