import Features
import HTTPSupport
import Proofs

/// The page of one purchase that nobody has redeemed.
struct UnclaimedPurchasePage {
    let context: ConsoleContext
    let purchase: UnclaimedPurchase

    static func path(of purchase: UnclaimedPurchase) -> ConsolePath {
        ConsolePath(
            "unclaimed", purchase.transactionIdentifier,
            query: ["origin": purchase.origin.rawValue, "app": purchase.app])
    }

    static func state(of purchase: UnclaimedPurchase) -> HTML {
        purchase.revocationDate == nil
            ? Shown.badge(Phrase("Unclaimed", "주인 없음"), .warning) : Shown.badge(Phrase("Revoked", "회수됨"), .bad)
    }

    var page: Page {
        Page(
            Phrase(
                "Unclaimed purchase \(purchase.transactionIdentifier)", "주인 없는 구매 \(purchase.transactionIdentifier)"),
            section: .unclaimed
        ) {
            section(.class("card")) {
                Facts.list([
                    (Phrase("State", "상태"), Self.state(of: purchase)),
                    (Phrase("Product", "상품"), Shown.identifier(purchase.productIdentifier)),
                    (Phrase("Item", "아이템"), Shown.identifier(purchase.item?.description)),
                    (Phrase("Purchased", "구매일"), Shown.moment(purchase.purchaseDate)),
                    (Phrase("Last statement", "마지막 진술"), Shown.moment(purchase.statedAt)),
                    (Phrase("Revoked", "회수"), Shown.moment(purchase.revocationDate)),
                    (
                        Phrase("Original transaction", "원래 거래"),
                        Shown.identifier(purchase.originalTransactionIdentifier)
                    ),
                    (Phrase("Origin", "출처"), Shown.identifier(purchase.origin.rawValue)),
                    (Phrase("App", "앱"), Shown.identifier(purchase.app)),
                    (
                        Phrase("Account token", "계정 토큰"),
                        Shown.identifier(purchase.appAccountToken?.uuidString.lowercased())
                    ),
                ])
            }
            if context.may(.support) { assignment }
            p { a(.href(ConsoleSection.unclaimed.path)) { Phrase("All unclaimed purchases", "주인 없는 구매 모두 보기") } }
        }
    }

    private var assignment: HTML {
        details(.class("action")) {
            summary { Phrase("Assign the purchase to a user", "사용자에게 구매 배정") }
            p(.class("note")) {
                Phrase(
                    "The user gets what the purchase grants, as if the app had redeemed it. The usual checks may refuse it.",
                    "앱에서 등록한 것처럼 사용자가 구매의 내용을 받습니다. 일반 검사에서 거절될 수 있습니다.")
            }
            context.form(to: ConsolePath("unclaimed", purchase.transactionIdentifier, "assignment")) {
                input(.type("hidden"), .name("origin"), .value(purchase.origin.rawValue))
                input(.type("hidden"), .name("app"), .value(purchase.app))
                Field.text(
                    "user", Phrase("User's name or account token", "사용자 이름 또는 계정 토큰"),
                    maximumLength: User.maximumCustomerLength, isRequired: true)
                Field.text(
                    "issuer", Phrase("Issuer of the name", "이름의 발급자"), maximumLength: User.maximumIssuerLength,
                    note: Phrase("Only if several users have the name.", "같은 이름의 사용자가 여럿일 때만."))
                Field.reason()
                button(.class("primary")) { Phrase("Assign", "배정") }
            }
        }
    }
}
