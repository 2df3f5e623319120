/// A page of the local store.
enum LocalStoreTab: String, CaseIterable {
    case transactions = ""
    case queue
    case buy
    case clock
    case notifications
    case products
    case settings

    var title: Phrase {
        switch self {
        case .transactions: Phrase("Transactions", "거래")
        case .queue: Phrase("Payment queue", "결제 대기열")
        case .buy: Phrase("Buy", "구매")
        case .clock: Phrase("Clock", "시계")
        case .notifications: Phrase("Notifications", "알림")
        case .products: Phrase("Products", "상품")
        case .settings: Phrase("Settings", "설정")
        }
    }

    var path: ConsolePath { self == .transactions ? ConsolePath("store") : ConsolePath("store", rawValue) }

    /// The links to all pages of the store.
    ///
    /// - Parameter current: The page that shows them; nil for a page below them.
    static func links(_ current: LocalStoreTab?) -> HTML {
        Tabs.list(Phrase("Local App Store", "로컬 App Store")) {
            for tab in allCases { Tabs.link(tab.title, to: tab.path, isPresent: tab == current) }
        }
    }

    /// A part of a page that the script loads again after each change in the store.
    static func live(@HTMLBuilder _ content: () -> HTML) -> HTML {
        div(.id("live"), HTMLAttribute("data-stream", ConsolePath("store", "stream").text)) { content() }
    }
}
