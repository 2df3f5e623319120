import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The purchases that nobody has redeemed.
struct UnclaimedRoutes: Sendable {
    let services: ConsoleServices

    func add(to pages: ConsolePages) {
        pages.get("unclaimed") { request, _ in try await list(request) }
        pages.get("unclaimed/:transaction") { request, context in
            let purchase = try await purchase(
                context.parameters.text("transaction"), origin: try request.query("origin"),
                in: try request.query("app"))
            return UnclaimedPurchasePage(context: context, purchase: purchase).page
        }
        pages.post("unclaimed/:transaction/assignment", .support) { _, context in
            guard let origin = Origin(rawValue: try context.form.text("origin")) else {
                throw ConsoleForm.invalid("origin", "the origin of the purchase")
            }
            let user = try await user(context.form)
            _ = try await services.entitlements.assign(
                unclaimed: try context.parameters.text("transaction"), origin: origin,
                in: try context.form.requiredText("app"), to: user, reason: try context.form.reason(),
                by: try context.requiredMember.caller)
            return ConsolePath("unclaimed", query: ["done": Notice.assigned.rawValue])
        }
    }

    private func list(_ request: Request) async throws -> Page {
        let page = try HTTPSupport.Page(request)
        func parameter(_ name: String) throws -> String? {
            let text = try request.query(name)?.trimmingCharacters(in: .whitespaces)
            return text.flatMap { $0.isEmpty ? nil : $0 }
        }
        let (search, app) = (try parameter("transaction"), try parameter("app"))
        let found = try await services.entitlements.unclaimedPurchases(
            ofTransaction: search, in: app, after: try page.position { UnclaimedPurchase.Position($0) },
            limit: page.size + 1)
        let (shown, next) = page.part(of: found) { $0.position.description }
        return UnclaimedPage(
            apps: services.entitlements.apps.all.map(\.bundleIdentifier), search: search, app: app, purchases: shown,
            expectedCount: try await services.entitlements.ledger.read {
                try $0.expectedPurchaseCount(
                    upTo: UnclaimedPage.maximumExpected)
            }, nextCursor: next
        ).page
    }

    private func purchase(_ identifier: String, origin: String?, in app: String?) async throws -> UnclaimedPurchase {
        let found = try await services.entitlements.unclaimedPurchases(
            ofTransaction: identifier, in: app, after: nil, limit: 100
        ).filter { purchase in
            ByteKey(purchase.transactionIdentifier) == ByteKey(identifier)
                && (origin == nil || purchase.origin.rawValue == origin)
        }
        guard let purchase = found.first else { throw AssignmentError.purchaseNotFound }
        guard found.count == 1 else { throw AssignmentError.purchaseAmbiguous }
        return purchase
    }

    /// The user that a form names by the name or the account token. The console creates no user from a misspelled name.
    private func user(_ form: ConsoleForm) async throws -> User {
        let text = try form.requiredText("user", upTo: User.maximumCustomerLength)
        let issuer = try form.text("issuer", upTo: User.maximumIssuerLength)
        // Of all issuers, this one has the longest names.
        let name = User(issuer: User.customerIssuer, name: text).map { ByteKey($0.name) }
        let found = try await services.entitlements.ledger.read { try $0.users(matching: text, after: nil, limit: 100) }
            .filter { known in
                let isNamed = ByteKey(known.user.name) == name || known.appAccountToken == UUID(uuidString: text)
                return isNamed && (issuer.isEmpty || ByteKey(known.user.issuer) == ByteKey(issuer))
            }
        guard let user = found.first?.user else { throw Problem.userNotFound }
        guard found.count == 1 else {
            throw Problem(
                status: .conflict, code: "userAmbiguous",
                detail: "Several issuers have a user of this name. Fill in the issuer, or use the account token.")
        }
        return user
    }
}

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
