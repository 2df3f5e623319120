/// A page of the section about the App Store.
enum AppStoreTab: String, Sendable, CaseIterable {
    case notifications
    case reconciliation
    case consumption

    var title: Phrase {
        switch self {
        case .notifications: Phrase("Notifications", "알림")
        case .reconciliation: Phrase("Reconciliation", "대조")
        case .consumption: Phrase("Refund questions", "환불 문의")
        }
    }

    var path: ConsolePath {
        switch self {
        case .notifications: ConsolePath("app-store")
        case .reconciliation, .consumption: ConsolePath("app-store", rawValue)
        }
    }

    /// The links to all pages of the section, with a mark at the present one.
    static func links(present: AppStoreTab?) -> HTML {
        Tabs.list(Phrase("Pages about the App Store", "App Store 페이지")) {
            for tab in allCases { Tabs.link(tab.title, to: tab.path, isPresent: tab == present) }
        }
    }
}
