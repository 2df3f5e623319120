import Proofs

/// The error of a query for a figure.
package enum FigureError: CodedError, Equatable {
    case unknown(String)
    case timeInvalid
    case tooManyPoints
    case breakdownUnknown

    package var code: String {
        switch self {
        case .unknown: "figureUnknown"
        case .timeInvalid: "figureTimeInvalid"
        case .tooManyPoints: "figurePointsTooMany"
        case .breakdownUnknown: "figureBreakdownUnknown"
        }
    }

    package var message: String {
        switch self {
        case .unknown(let name):
            "Unknown figure \"\(name.prefix(100))\". Use one of \(Figure.allCases.map(\.rawValue).joined(separator: ", "))."
        case .timeInvalid: "The first day must not be after the last day, or after today."
        case .tooManyPoints:
            "The answer would have too many points. Ask for a shorter time, for longer periods, or for one product."
        case .breakdownUnknown:
            "Sums are kept per product and per storefront, not per pair of both. Name only one of them."
        }
    }
}
