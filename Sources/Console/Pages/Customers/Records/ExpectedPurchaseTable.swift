import Commerce
import Entitlements

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
                Self.title,
                columns: [
                    Phrase("Product", "상품"), Phrase("Original transaction", "원래 거래"), Phrase("Purchased", "구매일"),
                    Phrase("Until", "종료"), Phrase("Origin", "출처"),
                ],
                rows: purchases.prefix(CustomerFacts.listed).map { purchase in
                    [
                        HTML { names.product(purchase.productIdentifier) },
                        Shown.identifier(purchase.originalTransactionIdentifier), Shown.day(purchase.purchaseDate),
                        Shown.day(purchase.expiresAt), OriginWords.html(purchase.origin),
                    ]
                },
                empty: Phrase("No expected purchases.", "증명을 기다리는 구매가 없습니다."))
            if purchases.count > CustomerFacts.listed {
                p { plain("+ \(purchases.count - CustomerFacts.listed)") }
            }
        }
    }
}
