import Proofs
import Vocabulary

/// The app to which a caller is limited, and what belongs to it. This is the only rule about what such a caller sees and changes.
///
/// - A purchase, a notification, an event and a webhook belong to their app.
/// - An item or a balance belongs to each app whose products give it. The caller sees the items of its own app, and changes
///   items and balances that no other app's products give.
/// - An attribute that a public key has stated belongs to the key's app. Public keys see it and the team's.
/// - Anything else, such as a profile or an account token, belongs to no app. `AccessMiddleware` refuses its routes.
package struct AppLimit: Sendable {
    /// The bundle identifier. The service may no longer sell the app.
    package let app: String
    private let own: Catalog?
    private let others: [Catalog]

    init(_ app: String, _ catalogs: [Catalog]) {
        self.app = app
        own = catalogs.first { $0.bundleIdentifier.hasSameBytes(as: app) }
        others = catalogs.filter { !$0.bundleIdentifier.hasSameBytes(as: app) }
    }

    /// True for the app itself. What names no app belongs to none.
    package func includes(app other: String?) -> Bool { other?.hasSameBytes(as: app) ?? false }

    /// The free items of the app.
    package var ownedByEverybody: [Item] { own?.ownedByEverybody ?? [] }

    /// The items that the app's products give, in no order.
    package var items: [Item] { own?.grantedItems ?? [] }

    /// True if a product of the app gives the item. The caller sees the team's grants of it.
    package func sees(_ item: Item) -> Bool { own?.product(granting: item) != nil }

    /// Checks that the caller may give, revoke or redefine an item.
    package func check(_ item: Item) throws(AppLimitError) {
        guard !others.contains(where: { $0.product(granting: item) != nil || $0.ownedByEverybody.contains(item) })
        else {
            throw .itemOfAnotherApp(item, app: app)
        }
    }

    /// True if only the app's products add to the balance.
    package func owns(balance: String) -> Bool {
        own?.adds(to: balance) ?? false && !others.contains { $0.adds(to: balance) }
    }

    /// Checks that the caller may spend a balance, and add to it.
    package func check(balance: String) throws(AppLimitError) {
        guard owns(balance: balance) else { throw .balanceOfAnotherApp(balance, app: app) }
    }

    /// Checks that the caller may let a product give a benefit.
    package func check(_ benefit: Benefit?) throws(AppLimitError) {
        if case .credit(let credit) = benefit, others.contains(where: { $0.adds(to: credit.balance) }) {
            throw .balanceOfAnotherApp(credit.balance, app: app)
        }
        if let item = benefit?.item { try check(item) }
    }
}

extension Catalogs {
    /// The limit to an app; nil for a caller of all apps.
    package func limit(to app: String?) -> AppLimit? {
        app.map { AppLimit($0, all) }
    }
}

extension Catalog {
    fileprivate func adds(to balance: String) -> Bool { balances.contains { $0.hasSameBytes(as: balance) } }
}

package enum AppLimitError: RuledError, Equatable {
    case itemOfAnotherApp(Item, app: String)
    case balanceOfAnotherApp(String, app: String)

    package var rule: ErrorRule {
        let sentence =
            switch self {
            case .itemOfAnotherApp(let item, let app):
                "The API key is for the app \"\(app)\" only, and another app has \(item), too. Use a key for all apps."
            case .balanceOfAnotherApp(let balance, let app):
                "The API key is for the app \"\(app)\" only, whose products alone do not make up the balance "
                    + "\"\(balance)\". Use a key for all apps."
            }
        return ErrorRule(
            "appForbidden", .forbidden, sentence,
            korean: "한 앱의 API 키로는 다른 앱에도 속하는 대상을 요청할 수 없습니다. 모든 앱의 키를 사용하세요.")
    }
}
