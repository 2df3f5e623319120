import Features

/// An entry of the navigation.
enum ConsoleSection: String, Sendable, CaseIterable {
    case overview
    case customers
    case unclaimed
    case refusals
    case proofs
    case products
    case appStore
    case webhooks
    case localStore
    case health
    case team

    var title: Phrase {
        switch self {
        case .overview: Phrase("Overview", "개요")
        case .customers: Phrase("Customers", "고객")
        case .unclaimed: Phrase("Unclaimed purchases", "주인 없는 구매")
        case .refusals: Phrase("Refusals", "거절")
        case .proofs: Phrase("Proof inspector", "증명 검사")
        case .products: Phrase("Products", "상품")
        case .appStore: Phrase("App Store", "App Store")
        case .webhooks: Phrase("Webhooks", "웹훅")
        case .localStore: Phrase("Local App Store", "로컬 App Store")
        case .health: Phrase("Health", "상태")
        case .team: Phrase("Team", "팀")
        }
    }

    /// The permission without which the entry is not shown.
    var permission: TeamPermission {
        switch self {
        case .localStore: .store
        case .team: .administer
        default: .view
        }
    }

    var path: ConsolePath {
        switch self {
        case .overview: ConsolePath()
        case .appStore: ConsolePath("app-store")
        case .localStore: ConsolePath("store")
        default: ConsolePath(rawValue)
        }
    }
}
