import Catalog
import Features
import Foundation
import HTTPSupport
import Hummingbird
import Proofs

/// The search for customers: by the beginning of a name, an account token, a transaction, an original transaction, an order or
/// a product. Its values are the findings for a text.
struct CustomerSearch {
    /// The answer of the App Store about an order of this number.
    enum Order: Sendable {
        case notAsked
        case unknown
        case known
        /// The App Store did not answer.
        case failed
    }

    let text: String
    let names: CatalogNames
    var users: [KnownUser] = []
    var purchases: [KnownPurchase] = []
    var unclaimed: [UnclaimedPurchase] = []
    /// The products whose name or identifier contains the text.
    var products: [Product] = []
    var order = Order.notAsked
    /// The cursor of the next users; nil for none.
    var next: String?

    /// The only customer that the text identifies; nil if there is none or if there are several.
    private var exact: User? {
        var owners = Set(purchases.compactMap(\.owner))
        let name = text.precomposedStringWithCanonicalMapping
        let token = UUID(uuidString: text)
        owners.formUnion(
            users.filter { $0.appAccountToken == token || $0.user.name.hasSameBytes(as: name) }.map(\.user))
        return owners.count == 1 ? owners.first : nil
    }

    var page: Page {
        Page("Customers", section: .customers) {
            CustomersRoutes.search(text) {
                if let exact {
                    p {
                        a(.class("button primary"), .href(.customer(exact))) {
                            spaced(Phrase("Open customer"), data(exact.name))
                        }
                    }
                }
                let hasPurchases = !purchases.isEmpty || !unclaimed.isEmpty
                if hasPurchases { purchaseTable }
                if !products.isEmpty { productList }
                if !users.isEmpty || !hasPurchases && products.isEmpty { userTable }
            }
        }
    }
}

extension CustomersRoutes {
    /// The minimum length of an order number, in bytes. Shorter texts are not sent to the App Store.
    private static let minimumOrderLength = 8
    /// The largest number of unclaimed purchases shown.
    private static let maximumUnclaimed = 20

    /// The findings for a text.
    ///
    /// - Parameters:
    ///   - page: The page of the users.
    ///   - asksAppStore: True to look an unknown text up as an order.
    func findings(_ text: String, _ page: HTTPSupport.Page, asksAppStore: Bool) async throws -> CustomerSearch {
        let service = services.entitlements
        var findings = CustomerSearch(text: text, names: names)
        let last = try page.position { cursor in
            let parts = cursor.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
            return parts.count == 2 ? User(issuer: String(parts[0]), name: String(parts[1])) : nil
        }
        let users = try await service.ledger.read { try $0.users(matching: text, after: last, limit: page.size + 1) }
        (findings.users, findings.next) = page.part(of: users) { "\($0.user.issuer)\n\($0.user.name)" }
        guard !text.isEmpty, last == nil else { return findings }
        findings.products = names.products(matching: text)
        try await add([text], to: &findings)
        let isUnknown = findings.users.isEmpty && findings.purchases.isEmpty && findings.unclaimed.isEmpty
        if isUnknown, asksAppStore, text.utf8.count >= Self.minimumOrderLength, let orders = services.orders {
            do {
                let transactions = try await orders(text)
                findings.order = transactions.isEmpty ? .unknown : .known
                try await add(transactions, to: &findings)
            } catch is ReconciliationError {
                findings.order = .failed
            }
        }
        return findings
    }

    /// Adds the purchases of transactions.
    private func add(_ transactions: [String], to findings: inout CustomerSearch) async throws {
        for transaction in transactions {
            findings.purchases += try await services.entitlements.purchases(ofTransaction: transaction)
            findings.unclaimed += try await services.entitlements.unclaimedPurchases(
                ofTransaction: transaction, after: nil, limit: Self.maximumUnclaimed)
        }
    }
}
