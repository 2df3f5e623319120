import Commerce

/// The reason why a figure was not told.
public enum FigureError: CodedError, Equatable {
    case unknown(String)
    case timeInvalid
    case tooManyPoints
    case breakdownUnknown

    public var code: String {
        switch self {
        case .unknown: "figureUnknown"
        case .timeInvalid: "figureTimeInvalid"
        case .tooManyPoints: "figurePointsTooMany"
        case .breakdownUnknown: "figureBreakdownUnknown"
        }
    }

    public var message: String {
        switch self {
        case .unknown(let name):
            "There is no figure \"\(name.prefix(100))\". There are \(Figure.allCases.map(\.rawValue).joined(separator: ", "))."
        case .timeInvalid: "The first day is after the last day, or after today."
        case .tooManyPoints:
            "The answer would have too many points. Ask for a shorter time, for longer periods, or for one product."
        case .breakdownUnknown:
            "Sums are kept for each product and for each storefront, not for both together. Name one of them."
        }
    }
}
