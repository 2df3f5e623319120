import Features
import HTTPSupport
import Proofs

/// Finds the customer of a validation request.
///
/// The app gives an id, or none. Anybody can state any id, so an id never takes an account token: only back ends do. The holder
/// of a proof acts as the customer whom only proofs identify.
struct CordovaCustomers: Sendable {
    let services: DoorServices

    private var entitlements: EntitlementService { services.entitlements }

    /// Returns the customer, and makes the purchases of an unnamed customer those of the named one, unless the proof is refused.
    ///
    /// - Parameters:
    ///   - named: The customer by the id that the app gives; nil for none.
    ///   - app: The bundle identifier of the app.
    /// - Returns: Nil for a proof without purchases, from an app that gives no id.
    /// - Throws: `RedemptionError.purchaseRefused` for a purchase under another id.
    func customer(
        _ named: User?,
        of request: CordovaRequest,
        _ verified: VerifiedProof,
        app: String,
        by caller: Caller
    ) async throws -> User? {
        let (purchases, origin) = (verified.purchases ?? [], verified.origin)
        if let named { try await checkTokens(of: purchases, request, named) }
        let keys = purchases.map {
            TransactionKey(app: app, origin: origin, identifier: $0.originalTransactionIdentifier)
        }
        guard !keys.isEmpty else { return named }
        let owners = try await entitlements.owners(ofPurchases: Set(keys))
        let unnamed = zip(keys, purchases).compactMap { key, purchase in
            owners[key].flatMap { $0.isProofCustomer ? (user: $0, purchase: purchase) : nil }
        }
        let identity = ProofIdentity(of: purchases, app: app, origin: origin)?.user
        guard let customer = named ?? unnamed.first?.user ?? identity else { return nil }
        // A refused proof writes nothing.
        guard entitlements.accepted.origins(for: customer).contains(origin) else { return customer }
        var others: Set<User> = []
        for (user, purchase) in unnamed {
            if try await mayHave(purchase, customer, or: user, app: app) { others.insert(user) }
        }
        if named == nil, !others.isEmpty, let identity { others.insert(identity) }
        for other in others where other != customer {
            _ = try await entitlements.logIn(other, as: customer, by: caller.actor)
        }
        return customer
    }

    /// True if the redemption of a purchase is not refused to a customer who is one with its owner.
    private func mayHave(
        _ purchase: ProvenPurchase,
        _ customer: User,
        or owner: User,
        app: String
    ) async throws -> Bool {
        guard entitlements.catalogs[app]?.benefit(of: purchase.productIdentifier) != nil else { return false }
        guard let token = purchase.appAccountToken else { return true }
        return try await !entitlements.isAppAccountToken(token, ofOthersThan: [customer, owner])
    }

    /// Refuses a new purchase that the app made under another id than it states now.
    private func checkTokens(of purchases: [ProvenPurchase], _ request: CordovaRequest, _ user: User) async throws {
        guard let stated = request.obfuscatedUsername.flatMap({ UsernameTokens.token($0) }) else { return }
        let derived = request.username.map { UsernameTokens.tokens(of: $0) } ?? []
        for purchase in purchases {
            guard let token = purchase.appAccountToken, token != stated, !derived.contains(token) else { continue }
            if try await entitlements.isAppAccountToken(token, of: user) { continue }
            let known = try await entitlements.transactions(of: user, identifiedBy: [purchase.transactionIdentifier])
            if known.isEmpty { throw RedemptionError.purchaseRefused(.appAccountTokenMismatch) }
        }
    }
}
