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
                "There are no sums for this choice. They are kept per product or per storefront; those of paying users "
                    + "(arppu, lifetime-value) not per product, and those of retention per app alone.",
                korean: "이 선택의 합계는 없습니다. 합계는 상품별로, 또는 스토어프런트별로 보관합니다. 결제한 고객의 지표는 상품별로, 유지율은 상품별로도 스토어프런트별로도 나눌 수 없습니다."
            )
        }
    }
}
