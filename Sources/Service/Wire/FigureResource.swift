/// A figure that the service computes.
public struct FigureResource: Codable, Sendable {
    public let figure: String
    /// `sum`, `level`, `rate` or `movement`.
    public let kind: String
    /// True if the values are milliunits of a currency.
    public let isMoney: Bool
    public let definition: String

    public init(figure: String, kind: String, isMoney: Bool, definition: String) {
        self.figure = figure
        self.kind = kind
        self.isMoney = isMoney
        self.definition = definition
    }
}
