import Proofs

package enum FigureError: RuledError, Equatable {
    case unknown(String)
    case timeInvalid
    case tooManyPoints
    case breakdownUnknown

    package var rule: ErrorRule {
        switch self {
        case .unknown(let name):
            ErrorRule(
                "figureUnknown", .notFound,
                "Unknown figure \"\(name.prefix(100))\". Use one of "
                    + "\(Figure.allCases.map(\.rawValue).joined(separator: ", ")).",
                korean: "알 수 없는 지표입니다.")
        case .timeInvalid:
            ErrorRule(
                "figureTimeInvalid", .badRequest, "The first day must not be after the last day, or after today.",
                korean: "첫째 날은 마지막 날이나 오늘보다 늦을 수 없습니다.")
        case .tooManyPoints:
            ErrorRule(
                "figurePointsTooMany", .badRequest,
                "The answer would have too many points. Ask for a shorter time, for longer periods, or for one product.",
                korean: "값이 너무 많습니다. 더 짧은 기간이나 더 긴 단위, 또는 한 상품을 고르세요.")
        case .breakdownUnknown:
            ErrorRule(
                "figureBreakdownUnknown", .badRequest,
                "Sums are kept per product and per storefront, not per pair of both. Name only one of them.",
                korean: "합계는 상품별로, 또는 스토어프런트별로 보관합니다. 둘 중 하나만 고르세요.")
        }
    }
}
