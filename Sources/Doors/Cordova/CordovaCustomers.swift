import Commerce
import Entitlements
import HTTPSupport
import Receipts

/// Finds the customer of a validation request.
///
/// The app gives an id, or none. The proof decides what the id may have: a purchase with another customer's account token stays
/// with that customer. The holder of a proof acts as the customer whom only proofs identify.
struct CordovaCustomers: Sendable {
    let services: DoorServices

    private var entitlements: EntitlementService { services.entitlements }

    /// Returns the customer, and makes the purchases of an unnamed customer those of the named one.
    ///
    /// - Parameters:
    ///   - named: The customer by the id that the app gives; nil for none.
    ///   - app: The bundle identifier of the app.
    /// - Returns: Nil for a proof without purchases, from an app that gives no id.
    /// - Throws: `RedemptionError.appAccountTokenMismatch` for a purchase under another id.
    func customer(
        _ named: User?,
        of request: CordovaRequest,
        _ purchases: [ProvenPurchase],
        app: String,
        origin: Origin,
        by caller: Caller
    ) async throws -> User? {
        if let named { try await checkTokens(of: purchases, request, named) }
        let keys = purchases.map {
            TransactionKey(app: app, origin: origin, identifier: $0.originalTransactionIdentifier)
        }
        guard !keys.isEmpty else { return named }
        let owners = try await entitlements.owners(ofPurchases: Set(keys))
        let unnamed = keys.compactMap { owners[$0] }.filter(\.isProofCustomer)
        let identity = ProofIdentity(of: purchases, app: app, origin: origin)?.user
        guard let customer = named ?? unnamed.first ?? identity else { return nil }
        let others = unnamed + (named == nil && !unnamed.isEmpty ? [identity].compactMap(\.self) : [])
        for other in Set(others) where other != customer {
            _ = try await entitlements.logIn(other, as: customer, by: caller.actor)
        }
        return customer
    }

    private func checkTokens(of purchases: [ProvenPurchase], _ request: CordovaRequest, _ user: User) async throws {
        let derived = request.username.map { UsernameTokens.tokens(of: $0) } ?? []
        let stated = request.obfuscatedUsername.flatMap { UsernameTokens.token($0) }
        for purchase in purchases {
            guard let token = purchase.appAccountToken else { continue }
            if try await entitlements.isAppAccountToken(token, of: user) { continue }
            if derived.contains(token) {
                // Notifications about the customer's later purchases then find the customer, even before the app sends a proof.
                _ = try await entitlements.setAppAccountToken(token, of: user)
            } else if let stated, stated != token {
                let known = try await entitlements.transactions(
                    of: user, identifiedBy: [purchase.transactionIdentifier])
                if known.isEmpty { throw RedemptionError.appAccountTokenMismatch }
            }
        }
    }
}
