import Features
import HTTPSupport
import Proofs

/// The facts that a customer's page shows.
struct CustomerFacts: Sendable {
    /// The number of grants and transactions on the page. Their own pages show all.
    static let listed = 10

    let known: KnownUser
    let items: [OwnedItem]
    let subscriptions: [PurchaseStatus]
    let renewals: [SubscribedPurchase]
    /// The purchases that imports expect, newest first.
    let expectedPurchases: [ImportedCustomer.ExpectedPurchase]
    let balances: [Credit]
    /// The latest grants, and one more if there are further ones.
    let grants: [Grant]
    /// The latest transactions, and one more if there are further ones.
    let transactions: [RedeemedTransaction]
    /// Nil if profiles are off.
    let profile: Profile?
    /// The products on the wish list, with the dates of the wishes, newest first.
    let wishes: [(product: String, wishedAt: Timestamp)]
    /// The names of API keys by their identifiers.
    let keys: [String: String]
    /// True if the customer may use sandbox purchases that others may not.
    let isTester: Bool

    /// - Throws: `Problem`, `userNotFound`.
    init(_ user: User, _ services: ConsoleServices) async throws {
        let service = services.entitlements
        guard let known = try await service.customer(user) else { throw Problem.userNotFound }
        self.known = known
        items = try await service.items(of: user)
        subscriptions = try await service.subscriptions(of: user)
        renewals = subscriptions.isEmpty ? [] : try await service.renewals(of: user)
        expectedPurchases = try await service.expectedPurchases(of: user)
            .sorted {
                ($1.purchaseDate, ByteKey($0.originalTransactionIdentifier))
                    < ($0.purchaseDate, ByteKey($1.originalTransactionIdentifier))
            }
        balances = try await service.balances(of: user)
        grants = try await service.grants(of: user, before: nil, limit: Self.listed + 1)
        transactions = try await service.transactions(of: user, before: nil, limit: Self.listed + 1)
        profile = try await services.profiles?.profile(of: user)
        if let state = try await services.profiles?.productState(of: user) {
            let products = service.catalogs.all.flatMap(\.products).map { ByteKey($0.productIdentifier) }
            wishes = Set(products).compactMap { product in state.wishedAt(product.text).map { (product.text, $0) } }
                .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
        } else {
            wishes = []
        }
        keys = try await service.apiKeyNames()
        isTester = service.accepted.sandboxUsers.contains(user)
    }

    /// The last statement about the renewal of a subscription; nil without one.
    func renewal(of status: PurchaseStatus) -> SubscribedPurchase? {
        renewals.first {
            $0.origin == status.origin
                && $0.originalTransactionIdentifier.hasSameBytes(as: status.originalTransactionIdentifier)
        }
    }
}
