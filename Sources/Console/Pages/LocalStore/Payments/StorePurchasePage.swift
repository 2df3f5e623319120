import AppStore
import Proofs

/// The form that buys a product as any customer.
struct StorePurchasePage {
    let context: ConsoleContext
    let products: [Product]
    /// The accounts that have bought something lately.
    let accounts: [String]
    let account: String
    let product: String?

    var page: Page {
        Page(Phrase("Buy as a customer", "고객으로 구매"), section: .localStore) {
            LocalStoreTab.links(.buy)
            context.form(to: LocalStoreTab.buy.path) {
                div(.class("columns")) {
                    section(.class("card")) {
                        h2 { Phrase("At the App Store", "App Store에서") }
                        purchase
                    }
                    section(.class("card")) {
                        h2 { Phrase("In the app", "앱에서") }
                        redemption
                    }
                }
                div(.class("actions")) {
                    // The first button is the one of the Enter key.
                    button(
                        .class("primary"), .name(StorePurchaseForm.then), .value(StorePurchaseForm.redeem)
                    ) { Phrase("Buy and redeem", "구매하고 지급받기") }
                    button { Phrase("Buy only", "구매만 하기") }
                }
            }
        }
    }

    private var purchase: HTML {
        HTML {
            div(.class("field")) {
                label(.for("account")) { Phrase("Account of the customer", "고객의 App Store 계정") }
                input(
                    .type("text"), .id("account"), .name("account"), .value(account), .required,
                    HTMLAttribute("autocomplete", "off"), HTMLAttribute("maxlength", "256"),
                    HTMLAttribute("list", "accounts"))
                datalist(.id("accounts")) { for account in accounts { Console.option(.value(account)) } }
            }
            Field.choice(
                "product", Phrase("Product", "상품"),
                products.map {
                    ($0.productIdentifier, Phrase(same: "\($0.productIdentifier) (\($0.price.formatted))"))
                }, chosen: product)
            Field.number("quantity", Phrase("Quantity (1 to 10)", "수량 (1–10)"), value: "1", isRequired: true)
            Field.choice("offer", Phrase("Offer", "혜택"), offers)
            Field.choice("outcome", Phrase("Outcome", "결과"), Self.outcomes)
        }
    }

    private var redemption: HTML {
        HTML {
            p {
                Phrase(
                    "An app hands the proof of a purchase to the service. The service verifies it and grants the items, and "
                        + "the app then finishes the transaction.",
                    "앱은 구매 증명을 서비스에 전달합니다. 서비스가 확인하고 아이템을 지급하면 앱이 거래를 완료합니다.")
            }
            Field.text(
                "user", Phrase("Redeem for the user", "지급받을 사용자"),
                value: User(name: account)?.name ?? "", maximumLength: User.maximumLength,
                note: Phrase(
                    "A user that the service does not know is added.", "서비스에 없는 사용자는 새로 추가됩니다."))
            Field.text(
                "token", Phrase("Account token (appAccountToken)", "계정 토큰 (appAccountToken)"), maximumLength: 36,
                note: Phrase(
                    "Empty sends the service's token of the user, as an app does. If you only buy, it sends none.",
                    "비우면 앱처럼 서비스가 만든 사용자의 토큰을 보냅니다. 구매만 하면 보내지 않습니다."))
        }
    }

    /// The offers of all products. An introductory offer needs no request.
    private var offers: [(value: String, title: Phrase)] {
        var choices: [(value: String, title: Phrase)] = [
            (
                "",
                Phrase(
                    "None, or the introductory offer for a new customer", "없음 (신규 고객에게는 신규 구독 혜택)")
            )
        ]
        for product in products {
            for offer in product.subscription?.offers ?? [] {
                guard let identifier = offer.identifier else { continue }
                let kind = offer.kind.title
                let rest = " \(identifier) (\(product.productIdentifier))"
                choices.append(
                    ("\(offer.kind.name) \(identifier)", Phrase(kind.english + rest, kind.korean + rest)))
            }
        }
        return choices
    }

    private static let outcomes: [(value: String, title: Phrase)] =
        [
            (PaymentOutcome.purchased.name, Phrase("Purchased, by the settings", "구매됨 (설정에 따름)")),
            (PaymentOutcome.deferred.name, Phrase("Deferred: Ask to Buy", "연기됨: 구입 요청")),
            (PaymentOutcome.interrupted.name, Phrase("Interrupted", "중단됨")),
        ]
        + SKErrorCode.allCases.map { error in
            (error.name, Phrase("Fails with \(error.name)", "\(error.name) 오류로 실패"))
        }
}
