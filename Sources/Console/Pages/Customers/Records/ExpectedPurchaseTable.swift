import Features
import Proofs

/// The purchases that imports expect for a customer.
struct ExpectedPurchaseTable {
    static let title = Phrase("Expected purchases", "증명을 기다리는 구매")

    let purchases: [ImportedCustomer.ExpectedPurchase]
    let names: CatalogNames

    var html: HTML {
        HTML {
            h2 { Self.title }
            p(.class("note")) {
                Phrase(
                    "Recorded by the former server. Each grants nothing before its proof arrives: by a restore in the app, a "
                        + "notification or the reconciliation.",
                    "이전 서버가 기록한 구매입니다. 앱의 복원, App Store 알림, 대조로 증명이 도착하기 전에는 아무것도 주지 않습니다.")
            }
            Listing.table(
                Self.title, of: Array(purchases.prefix(CustomerFacts.listed)),
                empty: Phrase("No expected purchases.", "증명을 기다리는 구매가 없습니다.")
            ) {
                column(Phrase("Product", "상품")) { names.product($0.productIdentifier) }
                column(Phrase("Original transaction", "원래 거래")) { Shown.identifier($0.originalTransactionIdentifier) }
                column(Phrase("Purchased", "구매일")) { Shown.day($0.purchaseDate) }
                column(Phrase("Until", "종료")) { Shown.day($0.expiresAt) }
                column(Phrase("Origin", "출처")) { OriginWords.html($0.origin) }
            }
            if purchases.count > CustomerFacts.listed {
                p { plain("+ \(purchases.count - CustomerFacts.listed)") }
            }
        }
    }
}
