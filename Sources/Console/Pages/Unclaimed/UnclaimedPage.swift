import Features
import Proofs

/// The page of all purchases that nobody has redeemed.
struct UnclaimedPage {
    static let maximumExpected = 10_000

    /// The bundle identifiers of the service's apps.
    let apps: [String]
    let search: String?
    let app: String?
    let purchases: [UnclaimedPurchase]
    /// The number of purchases that imports expect, up to `maximumExpected`.
    let expectedCount: Int
    let nextCursor: String?

    var page: Page {
        Page(Phrase("Unclaimed purchases", "주인 없는 구매"), section: .unclaimed) {
            p(.class("note")) {
                Phrase(
                    "Purchases that the App Store has stated, and that no user has redeemed: their account token is unknown or "
                        + "absent.", "App Store가 알렸지만 어떤 사용자도 등록하지 않은 구매입니다. 계정 토큰이 없거나 알 수 없습니다.")
            }
            if expectedCount > 0 { expected }
            filter
            Listing.table(
                Phrase("Unclaimed purchases", "주인 없는 구매"), of: purchases,
                empty: Phrase("No unclaimed purchases.", "주인 없는 구매가 없습니다."), next: next
            ) {
                column(Phrase("Transaction", "거래")) { purchase in
                    a(.href(UnclaimedPurchasePage.path(of: purchase))) {
                        Shown.identifier(purchase.transactionIdentifier)
                    }
                }
                column(Phrase("Product", "상품")) { Shown.identifier($0.productIdentifier) }
                column(Phrase("Purchased", "구매일")) { Shown.moment($0.purchaseDate) }
                column(Phrase("Origin", "출처")) { Shown.identifier($0.origin.rawValue) }
                column(Phrase("Account token", "계정 토큰")) {
                    Shown.identifier($0.appAccountToken?.uuidString.lowercased())
                }
                column(Phrase("State", "상태")) { UnclaimedPurchasePage.state(of: $0) }
                if apps.count > 1 { column(Phrase("App", "앱")) { Shown.identifier($0.app) } }
            }
        }
    }

    private var expected: HTML {
        p(.class("note")) {
            let isMore = expectedCount >= Self.maximumExpected
            let count = Shown.digits(Int64(expectedCount)) + (isMore ? "+" : "")
            Phrase(
                "Imports also expect \(count) \(expectedCount == 1 ? "purchase" : "purchases") of known customers, without a "
                    + "proof so far. To count those that "
                    + "have arrived, import the file again with --dry-run.",
                "가져온 구매 \(count)건도 증명을 기다리며, 고객은 이미 정해져 있습니다. 도착한 구매를 세려면 파일을 --dry-run으로 다시 가져오세요.")
        }
    }

    private var next: ConsolePath? {
        nextCursor.map { ConsolePath("unclaimed", query: ["transaction": search, "app": app, "cursor": $0]) }
    }

    private var filter: HTML {
        form(.method("get"), .action(ConsolePath("unclaimed")), .class("card narrow")) {
            Field.text(
                "transaction", Phrase("Transaction or original transaction", "거래 또는 원래 거래"), value: search ?? "")
            if apps.count > 1 {
                Field.choice(
                    "app", Phrase("App", "앱"), empty: Phrase("All apps", "모든 앱"),
                    apps.map { ($0, Phrase(same: $0)) }, chosen: app)
            }
            button { Phrase("Search", "검색") }
        }
    }
}
