import Features

extension Figure {
    /// The name of the figure for people.
    var title: Phrase {
        switch self {
        case .units: Phrase("Units", "판매 수량")
        case .transactions: Phrase("Transactions", "거래")
        case .withoutPrice: Phrase("Transactions without a price", "가격 없는 거래")
        case .revenue: Phrase("Revenue", "매출")
        case .refunds: Phrase("Refunds", "환불")
        case .refundedRevenue: Phrase("Refunded revenue", "환불 금액")
        case .refundRate: Phrase("Refund rate", "환불률")
        case .newCustomers: Phrase("New customers", "신규 고객")
        case .activeSubscriptions: Phrase("Active subscriptions", "활성 구독")
        case .subscriptionMovement: Phrase("Movement of subscriptions", "구독 증감")
        case .renewals: Phrase("Renewals", "갱신")
        case .churn: Phrase("Churn", "이탈률")
        case .activeTrials: Phrase("Active trials", "활성 무료 체험")
        case .newTrials: Phrase("New trials", "신규 무료 체험")
        case .conversions: Phrase("Conversions of trials", "무료 체험 전환")
        case .trialConversion: Phrase("Conversion rate of trials", "무료 체험 전환율")
        case .monthlyRevenue: Phrase("Monthly recurring revenue (MRR)", "월간 반복 매출(MRR)")
        case .monthlyRevenueMovement: Phrase("Movement of the MRR", "MRR 증감")
        }
    }

    /// The definition in each language.
    var explanation: Phrase { Phrase(definition, koreanDefinition) }

    private var koreanDefinition: String {
        switch self {
        case .units: "갱신을 포함한 구매 수량입니다. 무료 체험은 구매가 아닙니다."
        case .transactions: "갱신을 포함한 구매 거래 수입니다."
        case .withoutPrice: "App Store가 가격을 알려 주지 않은 거래입니다. 매출에 포함되지 않습니다."
        case .revenue: "거래 가격의 합계입니다. App Store 수수료, 세금, 환불을 빼기 전 금액입니다."
        case .refunds: "App Store가 환불한 거래 수입니다. 환불한 날을 기준으로 합니다."
        case .refundedRevenue: "환불한 금액입니다. 환불한 날을 기준으로 합니다."
        case .refundRate: "기간 중의 거래 가운데 이후 환불된 거래를 기간 중의 거래로 나눈 비율입니다."
        case .newCustomers: "기간 중에 앱에서 첫 거래를 한 사용자 수입니다. 무료 체험을 포함합니다."
        case .activeSubscriptions: "기간이 끝날 때의 유료 구독 수입니다. 유예 기간을 포함합니다."
        case .subscriptionMovement: "활성 구독의 변화입니다. 신규와 재구독에서 이탈을 뺍니다."
        case .renewals: "유료 기간에 바로 이어진 유료 기간의 수입니다."
        case .churn: "기간 중에 끝난 구독에서 재구독을 뺀 수를 기간이 시작할 때의 활성 구독으로 나눈 비율입니다."
        case .activeTrials: "기간이 끝날 때의 무료 체험 수입니다."
        case .newTrials: "기간 중에 시작한 무료 체험 수입니다."
        case .conversions: "무료 체험 뒤의 첫 결제 수입니다. 결제한 날을 기준으로 합니다."
        case .trialConversion: "기간 중에 시작한 무료 체험 가운데 이후 결제로 이어진 비율입니다."
        case .monthlyRevenue: "기간이 끝날 때 활성 구독의 가격을 한 달 기준으로 환산한 합계입니다."
        case .monthlyRevenueMovement: "MRR의 변화입니다. 신규, 재구독, 변경에서 이탈을 뺍니다."
        }
    }

    /// The kind of chart that fits the figure.
    var chartKind: Chart.Kind {
        switch kind {
        case "level": .areas
        case "rate": .lines
        default: .bars
        }
    }

    /// True if the values are divided by denominators.
    var isRate: Bool { kind == "rate" }
}

extension FigureInterval {
    var title: Phrase {
        switch self {
        case .day: Phrase("Day", "일")
        case .week: Phrase("Week", "주")
        case .month: Phrase("Month", "월")
        }
    }
}

extension FigureQuery.Group {
    var title: Phrase {
        switch self {
        case .app: Phrase("App", "앱")
        case .product: Phrase("Product", "상품")
        case .storefront: Phrase("Storefront", "스토어프런트")
        case .origin: Phrase("Origin", "출처")
        }
    }
}

extension FigureQuery.Environment {
    var title: Phrase {
        switch self {
        case .production: Phrase("Production", "프로덕션")
        case .sandbox: Phrase("Sandbox and tests", "샌드박스와 테스트")
        }
    }
}
