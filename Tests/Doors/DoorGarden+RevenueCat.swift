import Foundation
import Proofs

/// The requests of RevenueCat's SDKs.
extension DoorGarden {
    static let anonymous = "$RCAnonymousID:" + String(repeating: "a1", count: 16)

    static func path(of user: String, _ rest: String = "") -> String {
        "/v1/subscribers/" + (user.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "") + rest
    }

    /// The body of a receipt request.
    static func receipt(_ proof: String, of user: String, product: String, isRestore: Bool = false) -> JSONValue {
        .object([
            "app_user_id": .string(user), "fetch_token": .string(proof), "is_restore": .bool(isRestore),
            "price": .string("4.99"), "observer_mode": .bool(false), "payload_version": .integer(1),
            "product_id": .string(product),
        ])
    }

    /// Sends a proof of a purchase.
    func redeem(_ proof: String, of user: String, product: String) async throws -> Answer {
        try await send(.post, "/v1/receipts", Self.receipt(proof, of: user, product: product))
    }

    /// Sends a newly signed proof of a transaction, as the SDK does for a customer who restores purchases.
    func restore(_ transaction: String, of user: String, product: String) async throws -> Answer {
        let proof = try garden.store.signedTransaction(of: transaction)
        return try await send(.post, "/v1/receipts", Self.receipt(proof, of: user, product: product, isRestore: true))
    }

    func customer(_ user: String) async throws -> Answer {
        try await send(.get, Self.path(of: user))
    }

    func logIn(_ current: String, as new: String) async throws -> Answer {
        try await send(
            .post, "/v1/subscribers/identify",
            .object(["app_user_id": .string(current), "new_app_user_id": .string(new)]))
    }

    /// Makes a new id of a customer known, as SDKs before `logIn` do.
    func alias(_ current: String, as new: String) async throws -> Answer {
        try await send(
            .post, Self.path(of: current, "/alias"), .object(["new_app_user_id": .string(new)]))
    }
}
