import Features
import Proofs

/// The page of the refused purchases with one code.
struct RefusedPurchasesPage {
    let code: String
    let refusals: [RecordedRefusal]
    let nextCursor: String?

    var page: Page {
        Page(Phrase("Refusals: \(code)", "거절: \(code)"), section: .refusals) {
            if let explanation = RefusalExplanation(code: code) {
                Facts.list([
                    (Phrase("Cause", "원인"), HTML { explanation.cause }),
                    (Phrase("Remedy", "해결 방법"), HTML { explanation.remedy }),
                ])
            }
            h2 { Phrase("Refused purchases", "거절된 구매") }
            Self.table(
                Phrase("Refused purchases, newest first", "거절된 구매, 최신순"), refusals,
                next: nextCursor.map { ConsolePath("refusals", code, query: ["cursor": $0]) })
            p { a(.href(ConsoleSection.refusals.path)) { Phrase("All codes", "모든 코드") } }
        }
    }

    static func table(_ caption: Phrase, _ refusals: [RecordedRefusal], next: ConsolePath?) -> HTML {
        Listing.table(
            caption, of: refusals,
            empty: Phrase("No purchase was refused with this code.", "이 코드로 거절된 구매가 없습니다."), next: next
        ) {
            column(Phrase("Time", "시각")) { Shown.moment($0.happenedAt) }
            column(Phrase("User", "사용자")) { Shown.customer($0.user) }
            column(Phrase("Product", "상품")) { Shown.identifier($0.productIdentifier) }
            column(Phrase("Transaction", "거래")) { refusal in
                a(.href(ConsolePath("customers", query: ["search": refusal.transactionIdentifier]))) {
                    Shown.identifier(refusal.transactionIdentifier)
                }
            }
            column(Phrase("Origin", "출처")) { Shown.identifier($0.origin?.rawValue) }
        }
    }
}
