import Commerce
import Entitlements

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
            caption,
            columns: [
                Phrase("Time", "시각"), Phrase("User", "사용자"), Phrase("Product", "상품"), Phrase("Transaction", "거래"),
                Phrase("Origin", "출처"),
            ],
            rows: refusals.map { refusal in
                [
                    Shown.moment(refusal.happenedAt), Shown.customer(refusal.user),
                    Shown.identifier(refusal.productIdentifier),
                    a(.href(ConsolePath("customers", query: ["search": refusal.transactionIdentifier]))) {
                        Shown.identifier(refusal.transactionIdentifier)
                    },
                    Shown.identifier(refusal.origin?.rawValue),
                ]
            },
            empty: Phrase("No purchase was refused with this code.", "이 코드로 거절된 구매가 없습니다."), next: next)
    }
}
